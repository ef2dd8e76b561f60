import { sql } from 'kysely';
import type { ExpressionBuilder, SqlBool } from 'kysely';
import { newId } from '../../platform/core/ids.ts';
import type { Page } from '../../platform/core/page.ts';
import { sayCauses, storableCauses } from '../../platform/notices/causes.ts';
import { insertNotices } from '../../platform/notices/store.ts';
import { storableText, toJson } from '../../platform/storage/columns.ts';
import type { DbOrTx } from '../../platform/storage/db.ts';
import { padded } from '../../platform/storage/padded.ts';
import { newestFirst } from '../../platform/storage/paging.ts';
import type { Schema } from '../../platform/storage/schema.ts';
import { faultNotice } from './notices.ts';
import { FAULT_SEVERITY } from './types.ts';
import type { FaultChange, FaultEvent, FaultRecord, FaultType, Finding } from './types.ts';

/**
 * A fault that returns within this time reopens the former record: a router that flaps all night has one record
 * with many occurrences.
 */
export const REOPEN_WITHIN_MS = 15 * 60_000;

export interface RouterChange {
  teamId: string;
  routerId: string;
  change: FaultChange;
}

/** Stores changes with their notices, inside a write. @returns what was opened or resolved */
export async function applyChanges(tx: DbOrTx, changes: readonly RouterChange[], now: number): Promise<FaultEvent[]> {
  const events: FaultEvent[] = [];
  for (const change of changes) {
    const event = await applyChange(tx, change, now);
    if (event) events.push(event);
  }
  await insertNotices(
    tx,
    events.map(faultNotice).filter((notice) => notice !== undefined),
    now,
  );
  return events;
}

/** Stores a change. Undefined when there was nothing to change. */
async function applyChange(db: DbOrTx, { teamId, routerId, change }: RouterChange, now: number): Promise<FaultEvent | undefined> {
  switch (change.kind) {
    case 'open':
      return openFault(db, { teamId, routerId, change }, now);
    case 'describe':
      await updateOpen(db, { teamId, routerId, change }, now);
      return undefined;
    case 'resolve': {
      const fault = await resolveOpen(db, { teamId, routerId, change }, now);
      return fault && resolvedEvent(fault);
    }
  }
}

type ChangeOf<Kind extends FaultChange['kind']> = RouterChange & { change: Extract<FaultChange, { kind: Kind }> };

/** `|| ''` keeps SQLite from reading all faults of the team: there is an index of one kind of one router. */
function isFaultOf({ teamId, routerId, change }: RouterChange) {
  return (eb: ExpressionBuilder<Schema, 'faults'>) =>
    eb.and([sql<SqlBool>`(team_id || '') = ${teamId}`, eb('router_id', '=', routerId), eb('type', '=', change.type)]);
}

async function openFault(db: DbOrTx, { teamId, routerId, change }: ChangeOf<'open'>, now: number): Promise<FaultEvent | undefined> {
  if (change.isTold === true && (await updateOpen(db, { teamId, routerId, change }, now))) return undefined;
  const again = await repeatFault(db, { teamId, routerId, change }, now);
  if (again) return again;
  const fault = await db
    .insertInto('faults')
    .values({
      id: newId(change.at),
      team_id: teamId,
      router_id: routerId,
      type: change.type,
      severity: FAULT_SEVERITY[change.type],
      ...textOf(change),
      created_at: change.at,
      resolved_at: null,
      occurrences: 1,
      updated_at: now,
    })
    .onConflict((conflict) => conflict.columns(['router_id', 'type']).where('resolved_at', 'is', null).doNothing())
    .returningAll()
    .executeTakeFirst();
  return fault && { kind: 'opened', fault, at: fault.created_at };
}

/** Reopens the record that is open or was resolved within {@link REOPEN_WITHIN_MS}. */
async function repeatFault(db: DbOrTx, change: ChangeOf<'open'>, now: number): Promise<FaultEvent | undefined> {
  const last = await db
    .selectFrom('faults')
    .select(['id', 'resolved_at'])
    .where(isFaultOf(change))
    .where((eb) => eb.or([eb('resolved_at', 'is', null), eb('resolved_at', '>=', change.change.at - REOPEN_WITHIN_MS)]))
    .orderBy('created_at', 'desc')
    .limit(1)
    .executeTakeFirst();
  if (!last) return undefined;
  const fault = await db
    .updateTable('faults')
    .set((eb) => ({ ...textOf(change.change), resolved_at: null, occurrences: eb('occurrences', '+', 1), updated_at: now }))
    .where('team_id', '=', change.teamId)
    .where('id', '=', last.id)
    .returningAll()
    .executeTakeFirstOrThrow();
  return { kind: last.resolved_at === null ? 'repeated' : 'reopened', fault, at: change.change.at };
}

async function resolveOpen(db: DbOrTx, change: ChangeOf<'resolve'>, now: number): Promise<FaultRecord | undefined> {
  return db
    .updateTable('faults')
    .set((eb) => ({ resolved_at: notBeforeItBegan(eb, change.change.at), updated_at: now }))
    .where(isFaultOf(change))
    .where('resolved_at', 'is', null)
    .returningAll()
    .executeTakeFirst();
}

export function resolvedEvent(fault: FaultRecord): FaultEvent {
  return { kind: 'resolved', fault, at: fault.resolved_at ?? fault.updated_at };
}

/** The clock may have been set back: a fault never ends before it begins. */
export function notBeforeItBegan(eb: ExpressionBuilder<Schema, 'faults'>, at: number) {
  return eb.case().when('created_at', '>', at).then(eb.ref('created_at')).else(eb.val(at)).end();
}

/** @returns whether it is open */
async function updateOpen(db: DbOrTx, change: ChangeOf<'describe' | 'open'>, now: number): Promise<boolean> {
  const { numUpdatedRows } = await db
    .updateTable('faults')
    .set({ ...textOf(change.change), updated_at: now })
    .where(isFaultOf(change))
    .where('resolved_at', 'is', null)
    .executeTakeFirst();
  return numUpdatedRows > 0n;
}

/** Longest text stored: interface and sensor names come from the router. */
const MAX_TEXT = 1000;

export function textOf({ finding: { message, causes } }: { finding: Finding }): Pick<FaultRecord, 'message' | 'cause' | 'causes'> {
  const storable = (text: string): string => storableText(text.slice(0, MAX_TEXT));
  return { message: storable(message), cause: storable(sayCauses(causes)), causes: toJson(storableCauses(causes)) };
}

/** Newest first, for one router or for all routers of the team. */
export async function selectFaults(
  db: DbOrTx,
  filter: { teamId: string; routerId?: string; status: 'open' | 'resolved' | undefined },
  page: Page,
): Promise<FaultRecord[]> {
  let query = db.selectFrom('faults').selectAll().where('team_id', '=', filter.teamId);
  if (filter.routerId !== undefined) query = query.where('router_id', '=', filter.routerId);
  if (filter.status) query = query.where('resolved_at', filter.status === 'open' ? 'is' : 'is not', null);
  return query.$call(newestFirst(page)).execute();
}

export interface WatchedRouter {
  id: string;
  team_id: string;
  agent_id: string;
  agent_router: string;
  uptime_seconds: number | null;
  last_seen_at: number | null;
}

/** All teams' routers with their last known state, read once at start. */
export async function selectWatchedRouters(db: DbOrTx): Promise<WatchedRouter[]> {
  return db
    .selectFrom('routers')
    .leftJoin('router_presence', 'router_presence.router_id', 'routers.id')
    .select(['routers.id', 'team_id', 'agent_id', 'agent_router', 'uptime_seconds', 'last_seen_at'])
    .where('removed_at', 'is', null)
    .execute();
}

/** The same of some agents. */
export async function selectWatchedRoutersOf(db: DbOrTx, agentIds: readonly string[]): Promise<WatchedRouter[]> {
  return db
    .selectFrom('routers')
    .leftJoin('router_presence', 'router_presence.router_id', 'routers.id')
    .select(['routers.id', 'team_id', 'agent_id', 'agent_router', 'uptime_seconds', 'last_seen_at'])
    .where('agent_id', 'in', padded(agentIds))
    .where('removed_at', 'is', null)
    .execute();
}

/** Types of open faults by router. */
export async function selectOpenFaults(db: DbOrTx): Promise<Map<string, FaultType[]>> {
  return typesByRouter(await db.selectFrom('faults').select(['router_id', 'type']).where('resolved_at', 'is', null).execute());
}

/** The same of the routers of some agents. */
export async function selectOpenFaultsOf(db: DbOrTx, agentIds: readonly string[]): Promise<Map<string, FaultType[]>> {
  const rows = await db
    .selectFrom('faults')
    .innerJoin('routers', 'routers.id', 'faults.router_id')
    .select(['faults.router_id', 'faults.type'])
    .where('routers.agent_id', 'in', padded(agentIds))
    .where('faults.resolved_at', 'is', null)
    .execute();
  return typesByRouter(rows);
}

function typesByRouter(rows: readonly { router_id: string; type: string }[]): Map<string, FaultType[]> {
  const byRouter = new Map<string, FaultType[]>();
  for (const { router_id: routerId, type } of rows) {
    if (!isFaultType(type)) continue;
    byRouter.set(routerId, [...(byRouter.get(routerId) ?? []), type]);
  }
  return byRouter;
}

/** Faults of types from other versions of this program stay unchanged. */
function isFaultType(type: string): type is FaultType {
  return Object.hasOwn(FAULT_SEVERITY, type);
}
