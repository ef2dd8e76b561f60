import { feature } from '../../feature.ts';
import type { Platform } from '../../feature.ts';
import type { AgentsService } from '../agents/service.ts';
import type { FaultsService } from '../faults/service.ts';
import type { RoutersService } from '../routers/service.ts';
import type { SessionsService } from '../sessions/service.ts';
import type { StatesService } from '../states/service.ts';
import { historyRoutes } from './routes.ts';
import { HistoryService } from './service.ts';
import type { Recorder } from './service.ts';

interface Needs extends Pick<Platform, 'storage'> {
  routers: RoutersService;
  agents: AgentsService;
  states: StatesService;
  sessions: SessionsService;
  faults: FaultsService;
  audit: Recorder;
}

/** Behind everything that keeps a history and writes it late. */
export const history = feature({
  create: ({ storage, routers, agents, states, sessions, faults, audit }: Needs) => ({
    history: new HistoryService({
      storage,
      routers,
      agents,
      recorders: { state: states.history, session: sessions, fault: faults, action: audit },
    }),
  }),
  routes: historyRoutes,
});
