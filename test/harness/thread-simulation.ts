import type { Listener, Place } from '../../server/outbound/notifications/threads/match.ts';
import { worst } from '../../server/outbound/notifications/threads/apply.ts';
import { countByPlace, isStandIn } from '../../server/outbound/notifications/threads/gather.ts';
import { keysOf, routeNotices, stormKeysOf } from '../../server/outbound/notifications/threads/routing/batch.ts';
import { isSettling, newsAmong, settleTogether } from '../../server/outbound/notifications/threads/routing/settle.ts';
import { inheritedFrom } from '../../server/outbound/notifications/threads/telling/care.ts';
import { MOVES } from '../../server/outbound/notifications/threads/telling/flapping.ts';
import { tellGroup } from '../../server/outbound/notifications/threads/telling/group.ts';
import { momentOf } from '../../server/outbound/notifications/threads/telling/moment.ts';
import type { NextGroup } from '../../server/outbound/notifications/threads/telling/moment.ts';
import { FLAP_WINDOW_MS } from '../../server/outbound/notifications/threads/timing.ts';
import type { ItemRow, NoticeRow, Revision, ThreadRow } from '../../server/outbound/notifications/threads/types.ts';

export const TEAM = 'team';
export const GROUP = 'group';

/** Passes at one time: everything that is due is told in the first, and what that brings about in the next ones. */
const MOST_TURNS = 20;

export interface Fact {
  kind?: string;
  phase: 'open' | 'resolve' | 'info';
  key?: string;
  record?: string;
  router?: string;
  agent?: string;
  severity?: string;
  data?: Record<string, unknown>;
}

/** What a group was told, and when. */
export interface Said {
  at: number;
  key: string;
  kind: Revision['kind'];
  withheld: Revision['withheld'];
  revision: number;
  open: number;
  items: number;
  severity: string;
  flapping: boolean;
}

/** The threads of one group in memory, by the rules of the product, with a clock that jumps from one due time to the next. */
export class ThreadSimulation {
  now: number;
  readonly said: Said[] = [];
  readonly threads = new Map<string, ThreadRow>();
  readonly #items = new Map<string, ItemRow>();
  listener: Listener;
  readonly places = new Map<string, Place>();
  agents = 1000;
  /** Groups that follow when nobody acknowledges. */
  chain: NextGroup[] = [];
  /** Ends of silences, by the key of a thread. */
  readonly silenced = new Map<string, number>();
  afterAgentMs = 60_000;
  #id = 0;
  readonly #versions = new Map<string, number>();

  constructor(listener: Partial<Listener> = {}, now = Date.UTC(2026, 0, 5, 12)) {
    this.now = now;
    this.listener = { id: GROUP, isDeleted: false, events: ['*'], sites: [], mute: 'never', schedule: null, ...listener };
  }

  /** What was told, without what was withheld. */
  get told(): string[] {
    return this.said.filter(({ withheld }) => withheld === null).map(({ kind, key }) => `${kind} ${key}`);
  }

  get isAllClosed(): boolean {
    return [...this.threads.values()].every(({ closed_at: end }) => end !== null);
  }

  /** Open, and nobody was told: neither of it nor of what stands for it. */
  get untold(): ThreadRow[] {
    const isTold = ({ parent_id: id, told_open: told }: ThreadRow): boolean => {
      const parent = id === null ? undefined : this.threads.get(id);
      return told === 1 || (parent?.state === 'open' && isTold(parent));
    };
    return [...this.threads.values()].filter((thread) => thread.state === 'open' && !isTold(thread));
  }

  /** The threads that a thread with this key has told. */
  severalOf(key: string): ThreadRow[] {
    const parent = [...this.threads.values()].findLast((thread) => thread.key === key);
    return [...this.threads.values()].filter(({ told_in: toldIn }) => parent !== undefined && toldIn === parent.id);
  }

  /** Somebody mutes the group, or ends the mute. */
  mute(isMuted: boolean): void {
    this.listener = { ...this.listener, mute: isMuted ? 'always' : 'never' };
    if (isMuted) return;
    for (const thread of this.threads.values())
      if (thread.muted === 1) this.threads.set(thread.id, { ...thread, flush_at: Math.min(thread.flush_at ?? Infinity, this.now) });
  }

  at(router: string, siteId: string | null, agentId: string | null = null): void {
    this.places.set(router, { siteId, sites: siteId === null ? [] : [siteId], agentId });
  }

  facts(...facts: Fact[]): void {
    this.#route(facts.map((fact) => this.#notice(fact)));
  }

  /** Facts that were stored in the wrong order. */
  factsBackwards(...facts: Fact[]): void {
    this.#route(facts.map((fact) => this.#notice(fact)).toReversed());
  }

  #route(notices: NoticeRow[]): void {
    const places = new Map(notices.map((notice) => [notice.id, this.#placeOf(notice)]));
    const campaignOf = (key: string): string | undefined => /^campaign (\S+)/.exec(key)?.[1];
    const ofNotices = notices.flatMap((notice) => keysOf(notice, places.get(notice.id)!, [this.listener], campaignOf));
    const keys = new Set([...ofNotices, ...stormKeysOf([this.listener])]);
    const threads = [...this.threads.values()].filter((thread) => thread.closed_at === null && keys.has(thread.key));
    const items = [...this.#items.values()];
    const known = {
      listeners: [this.listener],
      places,
      threads,
      items,
      campaignOf,
      silenced: new Set<string>(),
      newId: () => this.#nextId(),
      now: this.now,
    };
    const routed = routeNotices(notices, known);
    for (const thread of [...routed.added, ...routed.changed]) this.threads.set(thread.id, thread);
    this.#release(
      routed.changed.filter(({ key, state }) => key.startsWith('agent:') && state === 'ended').map(({ id }) => id),
      'open_again',
    );
    for (const item of routed.items) this.#items.set(`${item.thread_id} ${item.record_id}`, item);
    if (![...routed.added, ...routed.changed].some(isSettling)) return;
    const open = [...this.threads.values()].filter(({ closed_at: end }) => end === null);
    for (const thread of settleTogether(open, this.#toldAlone(open), this.now)) this.threads.set(thread.id, thread);
  }

  open(router: string, kind = 'fault.router_offline', severity = 'critical'): void {
    this.facts({ phase: 'open', router, kind, severity });
  }

  resolve(router: string, kind = 'fault.router_offline'): void {
    this.facts({ phase: 'resolve', router, kind });
  }

  away(agent: string): void {
    this.facts({ phase: 'open', agent, kind: 'fault.agent_offline', severity: 'critical' });
  }

  back(agent: string): void {
    this.facts({ phase: 'resolve', agent, kind: 'fault.agent_offline' });
  }

  /** Time goes by, and what is due is told at its time. */
  pass(ms: number): void {
    const end = this.now + ms;
    for (let turns = 0; ; turns += 1) {
      const due = Math.min(...[...this.threads.values()].map(({ flush_at: at }) => at ?? Infinity));
      if (due > end) break;
      if (due > this.now) turns = 0;
      if (turns > MOST_TURNS) throw new Error('telling does not end');
      this.now = Math.max(this.now, due);
      this.tell();
    }
    this.now = end;
  }

  tell(): void {
    const due = [...this.threads.values()].filter(({ flush_at: at }) => at !== null && at <= this.now);
    if (due.length === 0) return;
    const all = [...this.threads.values()];
    const children = new Map(
      all.filter(isStandIn).map(({ id }) => {
        const own = all.filter(({ parent_id: parent }) => parent === id);
        const open = own.filter(({ state }) => state === 'open').length;
        const moves = own.map(({ updated_at: at }) => at).toSorted((one, other) => other - one);
        return [id, { open, all: own.length, severity: worst(own), moves: moves.slice(0, MOVES) }];
      }),
    );
    const result = tellGroup({
      ...momentOf(this.listener, this.now, this.chain),
      silenced: new Map(due.flatMap(({ id, key }) => (this.#isSilenced(key) ? [[id, this.silenced.get(key)!]] : []))),
      teamId: TEAM,
      groupId: GROUP,
      due,
      parents: all.filter((thread) => (isStandIn(thread) || thread.key.startsWith('agent:')) && thread.closed_at === null),
      children,
      toldAlone: countByPlace(newsAmong(this.#toldAlone([...this.threads.values()]), this.now)),
      agents: this.agents,
      newId: () => this.#nextId(),
    });
    for (const id of result.replaced) this.threads.set(id, { ...this.threads.get(id)!, flush_at: null, closed_at: this.now });
    for (const thread of [...result.added, ...result.changed]) this.threads.set(thread.id, thread);
    this.#inherit(result.released);
    for (const { id, flapping_since: since } of result.released)
      for (const thread of this.threads.values())
        if (since !== null && thread.parent_id === id) this.threads.set(thread.id, { ...thread, openings: '[]' });
    this.#release(
      result.released.map(({ id }) => id),
      'as_told',
    );
    for (const { thread, kind, withheld } of result.revisions)
      this.said.push({
        at: this.now,
        key: thread.key,
        kind,
        withheld,
        revision: thread.revision,
        open: thread.open_count,
        items: thread.item_count,
        severity: thread.severity,
        flapping: thread.flapping_since !== null,
      });
  }

  #isSilenced(key: string): boolean {
    return (this.silenced.get(key) ?? 0) > this.now;
  }

  #inherit(parents: readonly ThreadRow[]): void {
    for (const parent of parents) {
      const { asked, care } = inheritedFrom(parent);
      for (const thread of this.threads.values())
        if (thread.parent_id === parent.id && thread.state === 'open')
          this.threads.set(thread.id, { ...thread, ...asked, ...(thread.acknowledged_at === null ? care : {}) });
    }
  }

  /** Told by themselves, and still open. */
  #toldAlone(threads: readonly ThreadRow[]): ThreadRow[] {
    return threads.filter(({ told_open: told, state, parent_id: parent }) => told === 1 && state === 'open' && parent === null);
  }

  #release(parents: readonly string[], how: 'open_again' | 'as_told'): void {
    const { now } = this;
    for (const thread of [...this.threads.values()].filter(({ parent_id: parent }) => parent !== null && parents.includes(parent))) {
      const { pending, open_count: count, flush_at: flushAt } = thread;
      const next: Partial<ThreadRow> =
        thread.state !== 'open'
          ? { flush_at: pending === null ? now + FLAP_WINDOW_MS : flushAt, ...(pending === null ? { flapping_since: null } : {}) }
          : how === 'open_again'
            ? { pending: 'open', pending_since: null, flapping_since: null, flush_at: now + this.afterAgentMs, told_open: 0 }
            : { pending: null, flapping_since: null, told_open: 1, told_at: now, told_count: count, flush_at: now };
      this.threads.set(thread.id, { ...thread, ...next, parent_id: null });
    }
  }

  #notice({ phase, kind = 'fault.router_offline', key, record, router, agent, severity = 'warning', data = {} }: Fact): NoticeRow {
    const name = key ?? (agent === undefined ? `router:${router}:${kind.slice(kind.indexOf('.') + 1)}` : `agent:${agent}`);
    const recordId = record ?? name;
    const version = (this.#versions.get(recordId) ?? 0) + 1;
    this.#versions.set(recordId, version);
    return {
      id: this.#nextId(),
      team_id: TEAM,
      kind,
      phase,
      severity,
      key: name,
      record_id: recordId,
      version,
      router_id: router ?? null,
      agent_id: agent ?? null,
      at: this.now,
      data: JSON.stringify(data),
      stored_at: this.now,
      routed_at: null,
    };
  }

  #placeOf({ router_id: router, agent_id: agent }: NoticeRow): Place {
    return this.places.get(router ?? agent ?? '') ?? { siteId: null, sites: [], agentId: null };
  }

  #nextId(): string {
    this.#id += 1;
    return String(this.#id).padStart(6, '0');
  }
}
