import { feature } from '../../feature.ts';
import type { RoutersService } from '../../fleet/routers/service.ts';
import type { AgentGateway } from '../../platform/core/agent-gateway.ts';
import { commandRoutes } from './routes.ts';
import { CommandsService } from './service.ts';

export const commands = feature({
  create: ({ routers, gateway }: { routers: RoutersService; gateway: AgentGateway }) => ({
    commands: new CommandsService({ routers, gateway }),
  }),
  routes: commandRoutes,
});
