import type { RoutersService } from '../../fleet/routers/service.ts';
import type { AgentGateway } from '../../platform/core/agent-gateway.ts';
import type { Clock } from '../../platform/core/clock.ts';
import type { Counters } from '../../platform/core/counters.ts';
import type { Log } from '../../platform/core/log.ts';
import type { Storage } from '../../platform/storage/db.ts';
import type { ForwardCluster } from './cluster/types.ts';
import type { ForwardLimits } from './limits.ts';
import type { ForwardSettings } from './types.ts';

export interface ForwardsDeps {
  storage: Storage;
  routers: Pick<RoutersService, 'getRouter'>;
  gateway: AgentGateway;
  clock: Clock;
  log: Log;
  settings: ForwardSettings;
  limits?: ForwardLimits;
  counters?: Counters;
  /** How far statements for agents are apart when many connect (AGENTS_APART_MS); 0 unless given. */
  agentsApartMs?: number;
  /** This control plane among several on one database; null or omitted for one that serves it alone. */
  cluster?: ForwardCluster | null;
}
