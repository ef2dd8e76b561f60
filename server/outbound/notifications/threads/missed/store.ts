import { newId } from '../../../../platform/core/ids.ts';
import { inChunks } from '../../../../platform/storage/columns.ts';
import type { DbOrTx } from '../../../../platform/storage/db.ts';

/**
 * Ends that no notice told: the router moved to another agent, was replaced by other hardware, or was removed with its faults. Writes a notice
 * for each record in a thread whose fault is no longer open. @returns how many
 */
export async function insertMissedEnds(tx: DbOrTx, now: number, limit: number): Promise<number> {
  const rows = await tx
    .selectFrom('thread_items as items')
    .innerJoin('threads', 'threads.id', 'items.thread_id')
    .select(['items.team_id', 'items.record_id', 'items.kind', 'items.severity', 'items.router_id', 'items.agent_id'])
    .select((eb) => [eb.fn.max('items.version').as('version'), eb.fn.max('threads.key').as('key')])
    .where('items.resolved_at', 'is', null)
    .where('items.kind', 'like', 'fault.%')
    .where((eb) =>
      eb.or([
        eb.and([
          eb('items.kind', '<>', 'fault.agent_offline'),
          eb.not(
            eb.exists(
              eb
                .selectFrom('faults')
                .select('faults.id')
                .whereRef('faults.id', '=', 'items.record_id')
                .whereRef('faults.team_id', '=', 'items.team_id')
                .where('faults.resolved_at', 'is', null),
            ),
          ),
        ]),
        eb.and([
          eb('items.kind', '=', 'fault.agent_offline'),
          eb.not(
            eb.exists(
              eb
                .selectFrom('routers')
                .innerJoin('faults', 'faults.router_id', 'routers.id')
                .select('faults.id')
                .whereRef('routers.team_id', '=', 'items.team_id')
                .whereRef('routers.agent_id', '=', 'items.agent_id')
                .where('faults.type', '=', 'agent_offline')
                .where('faults.resolved_at', 'is', null),
            ),
          ),
        ]),
      ]),
    )
    .groupBy(['items.team_id', 'items.record_id', 'items.kind', 'items.severity', 'items.router_id', 'items.agent_id'])
    .limit(limit)
    .execute();
  const notices = rows.map((row) => ({
    ...row,
    id: newId(now),
    phase: 'resolve',
    version: row.version + 1,
    at: now,
    data: '{}',
    stored_at: now,
    routed_at: null,
  }));
  for (const chunk of inChunks(notices)) await tx.insertInto('notices').values(chunk).execute();
  return rows.length;
}
