import { feature } from '../../feature.ts';
import type { Platform } from '../../feature.ts';
import type { RoutersService } from '../../fleet/routers/service.ts';
import type { StatesService } from '../../fleet/states/service.ts';
import type { AgentGateway } from '../../platform/core/agent-gateway.ts';
import { pingRoute } from './ping/routes.ts';
import { PingService } from './ping/service.ts';
import { commandRoutes } from './routes.ts';
import { CommandsService } from './service.ts';

interface Needs extends Pick<Platform, 'clock'> {
  routers: RoutersService;
  states: StatesService;
  gateway: AgentGateway;
}

export const commands = feature({
  create: ({ routers, states, gateway, clock }: Needs) => ({
    commands: new CommandsService({ routers, gateway }),
    ping: new PingService({ routers, states, gateway, clock }),
  }),
  routes: (scope, services: { commands: CommandsService; ping: PingService }) => {
    commandRoutes(scope, services);
    pingRoute(scope, services);
  },
});
