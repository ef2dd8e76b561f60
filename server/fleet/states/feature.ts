import { feature } from '../../feature.ts';
import type { Platform } from '../../feature.ts';
import type { RoutersService } from '../routers/service.ts';
import type { KnownRuns } from '../sessions/types.ts';
import { stateMeasures } from './measures.ts';
import { StatesService } from './service.ts';

interface Needs extends Pick<Platform, 'config' | 'storage' | 'clock' | 'log' | 'counters'> {
  routers: RoutersService;
  serverRuns: KnownRuns;
}

/** Listed after the routers, because it reads their names. */
export const states = feature({
  create: ({ config, storage, clock, log, counters, routers, serverRuns }: Needs) => ({
    states: new StatesService({
      storage,
      clock,
      log: log.child({ component: 'states' }),
      counters,
      routers,
      runs: serverRuns,
      offlineAfterMs: config.offlineAfterMs,
      keepMs: config.keepHistoryMs,
    }),
  }),
  start: (own) => own.states.start(),
  stop: (own) => own.states.stop(),
  sweep: (own, signal) => own.states.sweep(signal),
  measures: ({ states }) => stateMeasures(states),
  agentListener: ({ states }) => ({
    onReady: (connection) => states.onReady(connection),
    onGone: (connection, end) => states.onGone(connection, end),
    onHeartbeat: (connection, heartbeat) => states.onHeartbeat(connection, heartbeat),
  }),
});
