import { sql } from 'kysely';
import type { RawBuilder } from 'kysely';
import { FINE_STEP_MS, HOUR_STEP_MS, stepStart } from '../../platform/core/time-steps.ts';
import type { StepRange } from '../../platform/core/time-steps.ts';
import type { DbOrTx, Tx } from '../../platform/storage/db.ts';
import { MEASUREMENTS } from './types.ts';
import type { HealthStepRow } from './types.ts';

const FINE_S = FINE_STEP_MS / 1000;
const HOUR_S = HOUR_STEP_MS / 1000;

const AGGREGATES = { count: 'sum', sum: 'sum', min: 'min', max: 'max' } as const;
type Aggregated = keyof typeof AGGREGATES;
const COLUMNS = MEASUREMENTS.flatMap((name) =>
  (Object.keys(AGGREGATES) as Aggregated[]).map((kind) => ({ column: `${name}_${kind}`, kind })),
);

/** Several steps as one: `sum(cpu_count) as cpu_count, …`. */
const merged: RawBuilder<unknown> = sql.join(
  COLUMNS.map(({ column, kind }) => sql`${sql.raw(AGGREGATES[kind])}(${sql.ref(column)}) as ${sql.ref(column)}`),
);

export async function upsertHealthSteps(tx: Tx, rows: readonly HealthStepRow[]): Promise<void> {
  await tx
    .insertInto('router_health_steps')
    .values([...rows])
    .onConflict((conflict) =>
      conflict
        .columns(['router_id', 'span_s', 'at', 'part'])
        .doUpdateSet(Object.fromEntries(COLUMNS.map(({ column }) => [column, sql.ref(`excluded.${column}`)]))),
    )
    .execute();
}

/** A step of the answer, merged from those that are stored. */
export type MergedStep = Omit<HealthStepRow, 'span_s' | 'part' | 'router_id'> & { until: number };

/** Of one router, oldest first; with the hour in which the range begins. */
export async function selectHealthSteps(
  db: DbOrTx,
  { teamId, routerId }: { teamId: string; routerId: string },
  { from, to, stepMs }: StepRange,
): Promise<MergedStep[]> {
  const step = sql`cast(${stepMs} as bigint)`;
  const { rows } = await sql<MergedStep>`
    select (at / ${step}) * ${step} as at, max(at + span_s * 1000) as until, ${merged}
    from router_health_steps
    where router_id = ${routerId} and span_s in (${FINE_S}, ${HOUR_S}) and at >= ${stepStart(from, HOUR_STEP_MS)} and at < ${to}
      and at + span_s * 1000 > ${from}
      and exists (select 1 from routers where routers.id = ${routerId} and routers.team_id = ${teamId})
    group by 1 order by 1`.execute(db);
  return rows;
}

/** Routers of all teams, removed ones too, for sweeps: at most `limit` behind an id. */
export async function selectRouterIds(db: DbOrTx, after: string, limit: number): Promise<string[]> {
  const rows = await db.selectFrom('routers').select('id').where('id', '>', after).orderBy('id').limit(limit).execute();
  return rows.map(({ id }) => id);
}

/** Makes hours of the fine steps of some routers that began before then. */
export async function joinToHours(tx: Tx, routerIds: readonly string[], before: number, part: number): Promise<void> {
  const hour = sql.raw(String(HOUR_STEP_MS));
  const chosen = sql`router_id in (${sql.join(routerIds)}) and span_s = ${FINE_S} and at < ${before}`;
  const columns = sql.join(COLUMNS.map(({ column }) => sql.ref(column)));
  await sql`
    insert into router_health_steps (router_id, span_s, at, part, ${columns})
    select router_id, cast(${HOUR_S} as integer), (at / ${hour}) * ${hour}, cast(${part} as integer), ${merged}
    from router_health_steps where ${chosen} group by router_id, (at / ${hour}) * ${hour}`.execute(tx);
  await sql`delete from router_health_steps where ${chosen}`.execute(tx);
}

/** Forgets the hours of some routers that began before then. */
export async function deleteHours(tx: Tx, routerIds: readonly string[], before: number): Promise<void> {
  await tx
    .deleteFrom('router_health_steps')
    .where('router_id', 'in', routerIds)
    .where('span_s', '=', HOUR_S)
    .where('at', '<', before)
    .execute();
}
