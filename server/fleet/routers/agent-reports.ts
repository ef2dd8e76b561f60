import type { Inventory } from '../../../protocol/index.ts';
import type { AgentConnection } from '../../platform/core/agent-gateway.ts';
import type { RouterHeartbeat } from './presence.ts';
import type { RouterRecord } from './types.ts';
import { FewMap } from '../../platform/core/few.ts';

/** An agent's reports on its present tunnel, by its own names for its routers. */
export interface AgentReports {
  connection: AgentConnection;
  /** Since when the tunnel has been ready, milliseconds of monotonic time. */
  readySince: number;
  ids: FewMap<string, string>;
  /**
   * Records by name as they were read when the tunnel opened, until the first inventory of the name: one with the facts that are stored
   * needs no query. After a restart, nearly all are such.
   */
  records: FewMap<string, RouterRecord>;
  /** The last heartbeat of each name, including names without an inventory. At most MAX_ROUTERS_PER_AGENT. */
  heartbeats: FewMap<string, RouterHeartbeat>;
}

/** What an agent has said on a tunnel that has just become ready: nothing. @param known what is stored of its routers, by its names for them */
export function noReports(
  connection: AgentConnection,
  readySince: number,
  known: { ids?: Iterable<[string, string]>; records?: Iterable<[string, RouterRecord]> } = {},
): AgentReports {
  return { connection, readySince, ids: new FewMap(known.ids), records: new FewMap(known.records), heartbeats: new FewMap() };
}

/** The record of the router that this inventory names, as it was read when the tunnel opened. */
export function readRecord(reports: AgentReports | undefined, { router: name, facts }: Inventory): RouterRecord | undefined {
  const record = reports?.records.get(name);
  // Otherwise another device answers there, or it has moved or was removed meanwhile.
  return record?.hardware_id === facts.hardware_id && reports?.ids.get(name) === record.id ? record : undefined;
}
