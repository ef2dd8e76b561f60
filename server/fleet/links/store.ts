import { FINE_STEP_MS, HOUR_STEP_MS, stepStart } from '../../platform/core/time-steps.ts';
import type { StepRange } from '../../platform/core/time-steps.ts';
import { inChunks } from '../../platform/storage/columns.ts';
import type { DbOrTx, Tx } from '../../platform/storage/db.ts';
import { mergeSteps } from './merge.ts';
import type { LinkStepRow } from './types.ts';

const FINE_S = FINE_STEP_MS / 1000;
const HOUR_S = HOUR_STEP_MS / 1000;

export async function upsertLinkSteps(tx: Tx, rows: readonly LinkStepRow[]): Promise<void> {
  const changing = ['answered', 'lost', 'least_us', 'most_us', 'counts'] as const;
  await tx
    .insertInto('agent_link_steps')
    .values([...rows])
    .onConflict((conflict) =>
      conflict
        .columns(['agent_id', 'span_s', 'at', 'part'])
        .doUpdateSet((eb) => Object.fromEntries(changing.map((column) => [column, eb.ref(`excluded.${column}`)]))),
    )
    .execute();
}

/** Of one agent, oldest first; with the hour in which the range begins. */
export async function selectLinkSteps(
  db: DbOrTx,
  { teamId, agentId }: { teamId: string; agentId: string },
  { from, to }: Pick<StepRange, 'from' | 'to'>,
): Promise<LinkStepRow[]> {
  return db
    .selectFrom('agent_link_steps')
    .selectAll()
    .where('agent_id', '=', agentId)
    .where('at', '>=', stepStart(from, HOUR_STEP_MS))
    .where('at', '<', to)
    .where('span_s', 'in', [FINE_S, HOUR_S])
    .where((eb) =>
      eb.exists(eb.selectFrom('agents').select('agents.id').where('agents.id', '=', agentId).where('agents.team_id', '=', teamId)),
    )
    .orderBy('at')
    .execute();
}

/** Agents of all teams, for sweeps: at most `limit` behind an id. */
export async function selectAgentIds(db: DbOrTx, after: string, limit: number): Promise<string[]> {
  const rows = await db.selectFrom('agents').select('id').where('id', '>', after).orderBy('id').limit(limit).execute();
  return rows.map(({ id }) => id);
}

/** Makes hours of the fine steps of some agents that began before then. */
export async function joinToHours(tx: Tx, agentIds: readonly string[], before: number, part: number): Promise<void> {
  const fine = await tx
    .deleteFrom('agent_link_steps')
    .where('agent_id', 'in', agentIds)
    .where('span_s', '=', FINE_S)
    .where('at', '<', before)
    .returningAll()
    .execute();
  const hours = Map.groupBy(fine, ({ agent_id: agentId, at }) => `${agentId} ${stepStart(at, HOUR_STEP_MS)}`);
  const rows = [...hours.values()].map((steps) => {
    const [{ agent_id, at }] = steps as [LinkStepRow];
    return { agent_id, span_s: HOUR_S, at: stepStart(at, HOUR_STEP_MS), part, ...mergeSteps(steps).columns };
  });
  for (const chunk of inChunks(rows)) await tx.insertInto('agent_link_steps').values(chunk).execute();
}

/** Forgets the hours of some agents that began before then. */
export async function deleteHours(tx: Tx, agentIds: readonly string[], before: number): Promise<void> {
  await tx.deleteFrom('agent_link_steps').where('agent_id', 'in', agentIds).where('span_s', '=', HOUR_S).where('at', '<', before).execute();
}
