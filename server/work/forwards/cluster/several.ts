import type { RoutersService } from '../../../fleet/routers/service.ts';
import type { AgentGateway } from '../../../platform/core/agent-gateway.ts';
import type { Clock } from '../../../platform/core/clock.ts';
import type { Log } from '../../../platform/core/log.ts';
import type { Storage } from '../../../platform/storage/db.ts';
import type { ForwardLimits } from '../limits.ts';
import { Doors } from './doors.ts';
import { Elsewhere } from './elsewhere.ts';
import { Homes } from './homes.ts';
import { OtherHomes } from './other-homes.ts';
import type { ForwardCluster, OwnForwards } from './types.ts';

/** What the forwards have where several control planes serve the database. */
export interface Several {
  channelUrl: string;
  others: OtherHomes;
  doors: Doors;
  homes: Homes;
  elsewhere: Elsewhere;
}

interface Deps {
  storage: Storage;
  routers: Pick<RoutersService, 'getRouter'>;
  gateway: AgentGateway;
  clock: Clock;
  log: Log;
  limits: ForwardLimits;
  /** `entry_point` of the forwards of this home. */
  host: string;
}

export function joinOthers(cluster: ForwardCluster, own: OwnForwards, { limits, ...deps }: Deps): Several {
  const { channelUrl } = cluster;
  const others = new OtherHomes({ ...cluster, log: deps.log, createWaitMs: limits.createWaitMs });
  const doors: Doors = new Doors({
    clock: deps.clock,
    homes: others,
    makeLive: (record, closed) => own.makeDoor(record, { doors, channelUrl }, closed),
  });
  const homes = new Homes({ ...deps, cluster, own, doors, others });
  const elsewhere = new Elsewhere({ ...deps, cluster, own, homes, others });
  return { channelUrl, others, doors, homes, elsewhere };
}
