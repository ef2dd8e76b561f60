import type { Listener, Place } from '../../server/outbound/notifications/threads/match.ts';
import { isStandIn } from '../../server/outbound/notifications/threads/gather.ts';
import { keysOf, routeNotices, settleTogether } from '../../server/outbound/notifications/threads/routing/batch.ts';
import { tellGroup } from '../../server/outbound/notifications/threads/telling/group.ts';
import { momentOf } from '../../server/outbound/notifications/threads/telling/moment.ts';
import type { NextGroup } from '../../server/outbound/notifications/threads/telling/moment.ts';
import { FLAP_WINDOW_MS } from '../../server/outbound/notifications/threads/timing.ts';
import type { ItemRow, NoticeRow, Revision, ThreadRow } from '../../server/outbound/notifications/threads/types.ts';

export const TEAM = 'team';
export const GROUP = 'group';

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
    this.listener = { id: GROUP, events: ['*'], sites: [], mute: 'never', schedule: null, ...listener };
  }

  /** What was told, without what was withheld. */
  get told(): string[] {
    return this.said.filter(({ withheld }) => withheld === null).map(({ kind, key }) => `${kind} ${key}`);
  }

  at(router: string, siteId: string | null, agentId: string | null = null): void {
    this.places.set(router, { siteId, sites: siteId === null ? [] : [siteId], agentId });
  }

  facts(...facts: Fact[]): void {
    const notices = facts.map((fact) => this.#notice(fact));
    const places = new Map(notices.map((notice) => [notice.id, this.#placeOf(notice)]));
    const campaignOf = (key: string): string | undefined => /^campaign (\S+)/.exec(key)?.[1];
    const keys = new Set(notices.flatMap((notice) => keysOf(notice, places.get(notice.id)!, [this.listener], campaignOf)));
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
    for (const item of routed.items) this.#items.set(`${item.thread_id} ${item.record_id}`, item);
    if (![...routed.added, ...routed.changed].some(({ pending }) => pending === 'open')) return;
    const waiting = [...this.threads.values()].filter(
      ({ pending, flush_at: at, closed_at: end }) => pending === 'open' && at !== null && end === null,
    );
    for (const thread of settleTogether(waiting, this.now)) this.threads.set(thread.id, thread);
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
    for (let turns = 0; turns < 100_000; turns += 1) {
      const due = Math.min(...[...this.threads.values()].map(({ flush_at: at }) => at ?? Infinity));
      if (due > end) break;
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
      due.filter(isStandIn).map(({ id }) => {
        const own = all.filter(({ parent_id: parent }) => parent === id);
        const open = own.filter(({ state }) => state === 'open').length;
        return [id, { open, all: own.length, severity: 'critical' }];
      }),
    );
    const result = tellGroup({
      ...momentOf(this.listener, this.now, this.chain),
      silenced: new Map(due.flatMap(({ id, key }) => (this.#isSilenced(key) ? [[id, this.silenced.get(key)!]] : []))),
      teamId: TEAM,
      groupId: GROUP,
      due,
      standIns: all.filter((thread) => isStandIn(thread) && thread.closed_at === null),
      children,
      agents: this.agents,
      newId: () => this.#nextId(),
    });
    for (const thread of [...result.added, ...result.changed]) this.threads.set(thread.id, thread);
    for (const { parentId, how } of result.released) this.#release(parentId, how);
    for (const { thread, kind, withheld } of result.revisions)
      this.said.push({
        at: this.now,
        key: thread.key,
        kind,
        withheld,
        revision: thread.revision,
        open: thread.open_count,
        flapping: thread.flapping_since !== null,
      });
  }

  #isSilenced(key: string): boolean {
    return (this.silenced.get(key) ?? 0) > this.now;
  }

  #release(parentId: string, how: 'open_again' | 'as_told'): void {
    const { now } = this;
    for (const thread of [...this.threads.values()].filter(({ parent_id: parent }) => parent === parentId)) {
      const next: Partial<ThreadRow> =
        thread.state !== 'open'
          ? { flush_at: now + FLAP_WINDOW_MS, pending: null }
          : how === 'open_again'
            ? { pending: 'open', pending_since: now, flush_at: now + this.afterAgentMs, told_open: 0 }
            : { pending: null, told_open: 1, told_at: now, flush_at: now };
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
