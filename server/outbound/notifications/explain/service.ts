import type { Clock } from '../../../platform/core/clock.ts';
import { invalidField } from '../../../platform/core/errors.ts';
import type { Storage } from '../../../platform/storage/db.ts';
import { FAULT_SEVERITY } from '../../../fleet/faults/types.ts';
import type { Severity } from '../../../fleet/faults/types.ts';
import type { MessagesService } from '../messages/service.ts';
import type { RevisionRows } from '../messages/writing/rows.ts';
import { DELIVERY_FAILING, whyNotFor } from '../threads/match.ts';
import type { NotHeard } from '../threads/match.ts';
import { newThread, placeOfThread } from '../threads/new-thread.ts';
import { factOf, holdOf, muteOf } from '../threads/telling/moment.ts';
import type { Hold } from '../threads/telling/moment.ts';
import type { Revision } from '../threads/types.ts';
import { selectAgentOf, selectGroupNames, selectListeners, selectPlaces, selectSilenced, selectTargetNames } from './store.ts';

export interface ExplainDeps {
  storage: Storage;
  clock: Clock;
  messages: Pick<MessagesService, 'foretell'>;
}

export interface Question {
  kind: string;
  routerId: string | undefined;
  /** When it would be told, milliseconds since 1970; undefined: now. */
  at: number | undefined;
}

/** What one line of a group would get. */
export interface Line {
  type: 'person' | 'target';
  recipientId: string;
  channel: string;
  /** The address, as others see it; null without one. */
  shown: string | null;
  state: 'pending' | 'held' | 'withheld';
  reason: string | null;
  /** When it is sent; null: not at all. */
  dueAt: number | null;
}

/** What one group would do with the fact. */
export interface Explained {
  groupId: string;
  group: string;
  notHeard: NotHeard | null;
  hold: Hold | null;
  /** One for each line of a group that hears of it. */
  lines: readonly (Line & { target: string | null })[];
}

/** The group of the address, whatever it follows and whether it is muted; its lines are the administrators. */
const HEARD_BY_ADMINS: { notHeard: NotHeard | null; hold: Hold | null } = { notHeard: null, hold: null };

/** Kinds that are about an agent with all its routers. */
const OF_AGENTS = new Set(['fault.agent_offline', 'agent.revoked']);

/**
 * Who would be told of a fact that lasts and comes alone, and why the others would not: by the functions that decide when one happens. It
 * stores nothing.
 */
export class Explainer {
  readonly #deps: ExplainDeps;

  constructor(deps: ExplainDeps) {
    this.#deps = deps;
  }

  /** All groups of the team. @throws AppError `invalid` for a router that is not the team's */
  async explain(teamId: string, { kind, routerId, at }: Question): Promise<Explained[]> {
    const { storage, clock, messages } = this.#deps;
    const { db } = storage;
    const now = at ?? clock.now();
    const fact = await this.#factOf(teamId, kind, routerId);
    const place = (await selectPlaces(db, teamId, [fact])).get(fact.id)!;
    const ofThread = factOf({ id: fact.id, key: fact.key, ...placeOfThread(fact.key, fact, place) });
    const silencedUntil = (await selectSilenced(db, teamId, [ofThread], now)).get(fact.id);
    const listeners = (await selectListeners(db, teamId)).filter(({ isDeleted }) => !isDeleted);
    const groups = listeners.map((listener) => ({
      id: listener.id,
      ...(kind === DELIVERY_FAILING
        ? HEARD_BY_ADMINS
        : { notHeard: whyNotFor(listener, kind, place), hold: holdOf(muteOf(listener, now), silencedUntil) }),
    }));
    const hearing = groups.filter(({ notHeard }) => notHeard === null);
    const opening = ({ id, hold }: (typeof groups)[number]): Revision => ({
      thread: { ...newThread({ id: fact.id, teamId, groupId: id, key: fact.key, kind, now }), severity: severityOf(kind) },
      kind: 'open',
      withheld: hold?.reason ?? null,
    });
    const told = await messages.foretell(db, teamId, hearing.map(opening), now);
    const lines = new Map(told.map(({ groups: [id], rows }) => [id, rows.filter(({ kind: said }) => said === 'open').map(lineOf)]));
    const names = await selectGroupNames(
      db,
      teamId,
      groups.map(({ id }) => id),
    );
    const targets = await selectTargetNames(
      db,
      teamId,
      [...lines.values()].flat().map(({ recipientId }) => recipientId),
    );
    return groups.map(({ id, notHeard, hold }) => ({
      groupId: id,
      group: names.get(id) ?? '',
      notHeard,
      hold: notHeard === null ? hold : null,
      lines: (lines.get(id) ?? []).map((line) => ({
        ...line,
        target: line.type === 'target' ? (targets.get(line.recipientId) ?? '') : null,
      })),
    }));
  }

  /** The notice that it would be, as far as it decides. */
  async #factOf(teamId: string, kind: string, routerId: string | undefined) {
    const fact = { id: 'fact', record_id: '', kind, router_id: routerId ?? null, agent_id: null, key: keyOf(kind, routerId ?? '') };
    if (routerId === undefined) return fact;
    const router = await selectAgentOf(this.#deps.storage.db, teamId, routerId);
    if (!router) throw invalidField('router_id', `${routerId} is not a router of this team`);
    if (!OF_AGENTS.has(kind)) return fact;
    return { ...fact, router_id: null, agent_id: router.agentId, key: `agent:${router.agentId}` };
  }
}

function lineOf(row: RevisionRows['rows'][number]): Line {
  return {
    type: row.recipient_type === 'target' ? 'target' : 'person',
    recipientId: row.recipient_id,
    channel: row.channel,
    shown: row.address ?? null,
    state: row.state as Line['state'],
    reason: row.reason ?? null,
    dueAt: row.due_at ?? null,
  };
}

/** Of which thread it would be, as far as it decides. */
function keyOf(kind: string, routerId: string): string {
  const [word] = kind.split('.');
  return word === 'campaign' || word === 'forward' ? `${word}:` : `router:${routerId}:`;
}

/** Only faults are critical. */
function severityOf(kind: string): Severity {
  const [word, type] = kind.split('.');
  return word === 'fault' ? ((FAULT_SEVERITY as Record<string, Severity>)[type ?? ''] ?? 'warning') : 'warning';
}
