import { AppError, invalidField, notFound } from '../../../platform/core/errors.ts';
import { newId } from '../../../platform/core/ids.ts';
import type { ForwardRecord } from '../../../work/forwards/types.ts';
import type { JobRecord } from '../../../work/jobs/types.ts';
import type { TerminalRecord } from '../../../work/terminals/types.ts';
import type { RouterRecord } from '../../routers/types.ts';
import type { Tx } from '../../../platform/storage/db.ts';
import { reporterKey } from '../heard-elsewhere.ts';
import { endPresent, isAgentRevoked, markRemoved } from '../store.ts';
import type { RemovalChange, RemovalsDeps, Replacement } from '../types.ts';
import { lockRouters, lockTeam, moveDevices, moveHistory, movePresent, selectCampaignAhead, takeHardware } from './store.ts';
import type { Pair } from './store.ts';

/** What listeners must learn about a replacement once it is stored. */
interface Replaced {
  router: RouterRecord;
  change: Extract<RemovalChange, { kind: 'replaced' }>;
  jobs: JobRecord[];
  forwards: ForwardRecord[];
  terminals: TerminalRecord[];
}

/**
 * Replaces a router's hardware with that of another record, inside the transaction that stores it.
 * @throws AppError `not_found`; `invalid` when the replacement is not another router of the team; `conflict` while the old
 *   hardware answers, and while a job or a campaign involves one of the two
 */
export async function replaceInside(tx: Tx, deps: RemovalsDeps, wanted: Replacement): Promise<Replaced> {
  const { teamId, routerId, replacedBy, keepJobs, now, heard } = wanted;
  await lockTeam(tx, teamId);
  const pair = await readPair(tx, deps, wanted);
  const { old, fresh } = pair;
  const heardOfOld = heard.get(reporterKey(old.agent_id, old.agent_router));
  if (heardOfOld?.isAnswering ?? deps.routers.presence.isAnswering(old.id))
    throw new AppError('conflict', 'the old router still answers: disconnect it first');
  const campaign = await selectCampaignAhead(tx, teamId, [old.id, fresh.id]);
  if (campaign !== undefined)
    throw new AppError('conflict', `campaign ${campaign} has not reached this router yet: wait for it, or cancel it`);
  const ending = { teamId, now, reason: 'router_replaced', error: 'the router was replaced by other hardware' };
  const jobs = [
    ...(await deps.jobs.endJobsOf(tx, {
      ...ending,
      routerId,
      keepQueued: keepJobs,
      agentRevoked: await isAgentRevoked(tx, teamId, old.agent_id),
    })),
    // These were meant for the new hardware.
    ...(await deps.jobs.endJobsOf(tx, {
      ...ending,
      routerId: replacedBy,
      keepQueued: true,
      agentRevoked: await isAgentRevoked(tx, teamId, fresh.agent_id),
    })),
  ];
  const forwards = await deps.forwards.closeAllOf(tx, teamId, [old.id, fresh.id]);
  const terminals = await deps.terminals.endAllOf(tx, teamId, [old.id, fresh.id]);
  await endPresent(tx, { teamId, routerId, now });
  await moveDevices(tx, pair, () => newId(now));
  await markRemoved(tx, { teamId, routerId: fresh.id, now }, old.id);
  const router = await takeHardware(tx, pair);
  await moveHistory(tx, pair);
  await movePresent(tx, pair);
  const change = {
    kind: 'replaced' as const,
    router,
    formerHardwareId: old.hardware_id,
    formerSerialNumber: old.serial_number,
    mergedId: fresh.id,
  };
  return { router, change, jobs: jobs.map((job) => ({ ...job, router_id: router.id })), forwards, terminals };
}

async function readPair(tx: Tx, { storage }: RemovalsDeps, { teamId, routerId, replacedBy, now }: Replacement): Promise<Pair> {
  const routers = await lockRouters(tx, storage.engine, teamId, [routerId, replacedBy]);
  const there = routers.filter(({ removed_at: removedAt }) => removedAt === null);
  const old = there.find(({ id }) => id === routerId);
  const fresh = there.find(({ id }) => id === replacedBy);
  if (!old) throw notFound('router');
  if (!fresh || fresh === old) throw invalidField('replaced_by', fresh ? 'is this router itself' : 'is not a router of this team');
  return { old, fresh, now };
}
