import { feature } from '../../feature.ts';
import type { Platform } from '../../feature.ts';
import type { AgentHolders } from '../agents/service.ts';
import type { RoutersService } from '../routers/service.ts';
import type { StatesService } from '../states/service.ts';
import { HeardElsewhere } from './heard-elsewhere.ts';
import { removalRoutes } from './routes.ts';
import { RemovalsService } from './service.ts';
import { ToldRouters } from './told-routers.ts';
import type { RemovalsDeps } from './types.ts';

interface Needs extends Omit<RemovalsDeps, 'heardElsewhere'>, Pick<Platform, 'log' | 'cluster'> {
  routers: RoutersService;
  states: StatesService;
  agentHolders: AgentHolders | null;
}

export const removals = feature({
  create: ({ cluster, log, agentHolders: holders, ...needs }: Needs) => {
    const heardElsewhere = cluster && holders && new HeardElsewhere({ ...needs, cluster, holders });
    const removals = new RemovalsService({ ...needs, heardElsewhere });
    const { moves } = needs.routers;
    const toldRouters = cluster && new ToldRouters({ ...needs, cluster, log: log.child({ component: 'routers' }), removals, moves });
    return { removals, toldRouters };
  },
  start: ({ toldRouters }) => toldRouters?.start(),
  stop: ({ toldRouters }) => toldRouters?.stop(),
  routes: removalRoutes,
});
