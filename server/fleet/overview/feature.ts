import { feature } from '../../feature.ts';
import type { Platform } from '../../feature.ts';
import type { AgentGateway } from '../../platform/core/agent-gateway.ts';
import type { RoutersService } from '../routers/service.ts';
import type { StatesService } from '../states/service.ts';
import { overviewRoute } from './routes.ts';
import { OverviewService } from './service.ts';

interface Needs extends Pick<Platform, 'storage' | 'clock'> {
  states: StatesService;
  routers: RoutersService;
  gateway: AgentGateway;
}

export const overview = feature({
  create: ({ storage, clock, states, routers, gateway }: Needs) => ({
    overview: new OverviewService({ storage, clock, states, routers, gateway }),
  }),
  routes: overviewRoute,
});
