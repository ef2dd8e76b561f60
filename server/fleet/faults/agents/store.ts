import { newId } from '../../../platform/core/ids.ts';
import { insertNotices, selectLastNotice } from '../../../platform/notices/store.ts';
import type { DbOrTx } from '../../../platform/storage/db.ts';
import { agentNotice, faultNotice } from '../notices.ts';
import { notBeforeItBegan, REOPEN_WITHIN_MS, resolvedEvent, textOf } from '../store.ts';
import { FAULT_SEVERITY } from '../types.ts';
import type { FaultEvent } from '../types.ts';
import type { AgentChange, ChangedRouter } from '../waiting-agents.ts';

/** Faults of all routers of an agent at once, and of a router that is removed. */

/** Some routers of an agent that lost sight, or got it back. */
export interface AgentPart extends Omit<AgentChange, 'routers'> {
  /** At most as many as one statement takes. */
  routers: readonly ChangedRouter[];
  /** Routers of the agent that the change concerns, with those of other parts. */
  total: number;
  /** Whether this part brings the one notice of the change. */
  withNotice: boolean;
}

/** Stores `agent_offline` of some routers in a few statements, inside a write. @returns what was opened or resolved */
export async function applyAgentChange(tx: DbOrTx, part: AgentPart, now: number): Promise<FaultEvent[]> {
  const events = part.kind === 'open' ? await openOfAgent(tx, part, now) : await resolveOfAgent(tx, part, now);
  if (part.withNotice && bringsNotice(events) && (await isNews(tx, part)))
    await insertNotices(tx, [agentNotice({ ...part, routers: part.total })], now);
  return events;
}

/** An agent that is back reports its routers one after the other: the first one says that it is back. */
async function isNews(tx: DbOrTx, { teamId, agentId, kind }: AgentPart): Promise<boolean> {
  return kind === 'open' || (await selectLastNotice(tx, teamId, agentId))?.phase === 'open';
}

/** Whether these events are news: faults that were open already are not. */
export function bringsNotice(events: readonly FaultEvent[]): boolean {
  return events.some(({ kind }) => kind !== 'repeated');
}

async function openOfAgent(tx: DbOrTx, { teamId, routers, at, finding }: AgentPart, now: number): Promise<FaultEvent[]> {
  const atOf = new Map(routers.map((router) => [router.id, router.at]));
  const type = 'agent_offline';
  const text = textOf({ finding: finding ?? { message: '', causes: [] } });
  const recent = await tx
    .selectFrom('faults')
    .select(['id', 'router_id', 'resolved_at'])
    .where('team_id', '=', teamId)
    .where('router_id', 'in', [...atOf.keys()])
    .where('type', '=', type)
    // `at` is the earliest moment.
    .where((eb) => eb.or([eb('resolved_at', 'is', null), eb('resolved_at', '>=', at - REOPEN_WITHIN_MS)]))
    .orderBy('created_at')
    .execute();
  const isRecent = ({ router_id: id, resolved_at: end }: (typeof recent)[number]): boolean =>
    end === null || end >= atOf.get(id)! - REOPEN_WITHIN_MS;
  // The newest of each router.
  const last = new Map(recent.filter(isRecent).map((fault) => [fault.router_id, fault]));
  const ids = [...last.values()].map(({ id }) => id);
  const again =
    ids.length === 0
      ? []
      : await tx
          .updateTable('faults')
          .set((eb) => ({ ...text, resolved_at: null, occurrences: eb('occurrences', '+', 1), updated_at: now }))
          .where('team_id', '=', teamId)
          .where('id', 'in', ids)
          .returningAll()
          .execute();
  const rows = routers
    .filter(({ id }) => !last.has(id))
    .map(({ id: routerId, at: beganAt }) => ({
      id: newId(beganAt),
      team_id: teamId,
      router_id: routerId,
      type,
      severity: FAULT_SEVERITY[type],
      ...text,
      created_at: beganAt,
      resolved_at: null,
      occurrences: 1,
      updated_at: now,
    }));
  const opened =
    rows.length === 0
      ? []
      : await tx
          .insertInto('faults')
          .values(rows)
          .onConflict((conflict) => conflict.columns(['router_id', 'type']).where('resolved_at', 'is', null).doNothing())
          .returningAll()
          .execute();
  const repeated = new Set(recent.filter(({ resolved_at: end }) => end === null).map(({ id }) => id));
  return [
    ...again.map((fault) => ({
      kind: repeated.has(fault.id) ? ('repeated' as const) : ('reopened' as const),
      fault,
      at: atOf.get(fault.router_id) ?? at,
    })),
    ...opened.map((fault) => ({ kind: 'opened' as const, fault, at: fault.created_at })),
  ];
}

/** One statement for each moment: mostly all routers have the same. */
async function resolveOfAgent(tx: DbOrTx, { teamId, routers }: AgentPart, now: number): Promise<FaultEvent[]> {
  const events: FaultEvent[] = [];
  for (const [at, some] of Map.groupBy(routers, (router) => router.at)) {
    const resolved = await tx
      .updateTable('faults')
      .set((eb) => ({ resolved_at: notBeforeItBegan(eb, at), updated_at: now }))
      .where('team_id', '=', teamId)
      .where(
        'router_id',
        'in',
        some.map(({ id }) => id),
      )
      .where('type', '=', 'agent_offline')
      .where('resolved_at', 'is', null)
      .returningAll()
      .execute();
    events.push(...resolved.map(resolvedEvent));
  }
  return events;
}

/** Resolves the open faults of a router that is removed, inside a write. */
export async function resolveAllOf(
  tx: DbOrTx,
  { teamId, routerId, now }: { teamId: string; routerId: string; now: number },
): Promise<void> {
  const resolved = await tx
    .updateTable('faults')
    .set((eb) => ({ resolved_at: notBeforeItBegan(eb, now), updated_at: now }))
    .where('team_id', '=', teamId)
    .where('router_id', '=', routerId)
    .where('resolved_at', 'is', null)
    .returningAll()
    .execute();
  const notices = resolved.map((fault) => faultNotice(resolvedEvent(fault))).filter((notice) => notice !== undefined);
  const hidden = resolved.some(({ type }) => type === 'agent_offline') ? await selectLastHiddenOf(tx, teamId, routerId) : undefined;
  const ends = hidden ? [agentNotice({ teamId, agentId: hidden, kind: 'resolve', at: now, routers: 0 })] : [];
  await insertNotices(tx, [...notices, ...ends], now);
}

/** The agent of a router, when none of its other routers has an open `agent_offline`: nobody can see that it is back. */
async function selectLastHiddenOf(tx: DbOrTx, teamId: string, routerId: string): Promise<string | undefined> {
  const row = await tx
    .selectFrom('routers')
    .select('agent_id')
    .where('team_id', '=', teamId)
    .where('id', '=', routerId)
    .where((eb) =>
      eb.not(
        eb.exists(
          eb
            .selectFrom('routers as others')
            .innerJoin('faults', 'faults.router_id', 'others.id')
            .select('faults.id')
            .where('others.team_id', '=', teamId)
            .whereRef('others.agent_id', '=', 'routers.agent_id')
            .where('faults.type', '=', 'agent_offline')
            .where('faults.resolved_at', 'is', null),
        ),
      ),
    )
    .executeTakeFirst();
  return row?.agent_id;
}
