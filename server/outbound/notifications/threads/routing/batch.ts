import { applyNotice, standAlone, stir } from '../apply.ts';
import { destinationOf, isFor, onlyGroupOf } from '../match.ts';
import type { CampaignOf, Listener, Place } from '../match.ts';
import { agentKey, bothKeys, isStandIn, isTooRestless, parentOf, placeKey, stormKey } from '../gather.ts';
import { newThread, placeOfThread } from '../new-thread.ts';
import type { ItemRow, NoticeRow, ThreadRow } from '../types.ts';

/** Gives a batch of notices to the threads of their groups. Pure: it returns what has to be stored. */

export interface Known {
  listeners: readonly Listener[];
  places: ReadonlyMap<string, Place>;
  /** Threads that can still change: those of the notices' keys, and those that stand for others. */
  threads: readonly ThreadRow[];
  items: readonly ItemRow[];
  campaignOf: CampaignOf;
  /** Notices that a silence covers. */
  silenced: ReadonlySet<string>;
  newId: () => string;
  now: number;
}

export interface Routed {
  added: ThreadRow[];
  changed: ThreadRow[];
  items: ItemRow[];
}

/** How many groups hear of a notice: each has a thread for it. */
export function hearing(listeners: readonly Listener[], notice: NoticeRow, place: Place): number {
  return listeners.filter((listener) => isFor(listener, notice.kind, place)).length;
}

/** The first notices, as many as fill a transaction, and at least one. @param sizeOf threads that a notice may change */
export function takeFew<T>(notices: readonly T[], sizeOf: (notice: T) => number, most: number): T[] {
  let size = 0;
  const next = notices.findIndex((notice) => {
    size += sizeOf(notice);
    return size > most;
  });
  return notices.slice(0, next === -1 ? notices.length : Math.max(1, next));
}

/** Keys of the threads that may hear of a notice, in any group. */
export function keysOf(notice: NoticeRow, place: Place, listeners: readonly Listener[], campaignOf: CampaignOf): string[] {
  // Jobs may belong to a campaign in one group and not in another.
  const keys = notice.kind.startsWith('job.') ? listeners.map((listener) => destinationOf(listener, notice, campaignOf).key) : [notice.key];
  const parents: string[] = [];
  const standIn = notice.router_id === null ? undefined : placeKey(place, notice.kind);
  if (standIn !== undefined) parents.push(...bothKeys(standIn));
  if (place.agentId !== null) parents.push(agentKey(place.agentId));
  return [...new Set([...keys, ...parents])];
}

/** Keys of the threads that stand for all others of a group. */
export function stormKeysOf(listeners: readonly Listener[]): string[] {
  return listeners.flatMap(({ id }) => bothKeys(stormKey(id)));
}

export function routeNotices(notices: readonly NoticeRow[], known: Known): Routed {
  const batch = new Batch(known);
  for (const notice of inOrder(notices)) for (const listener of known.listeners) batch.give(notice, listener);
  return batch.result();
}

/** Two processes whose clocks differ may store an end before its opening: the notices of one record come in the order of their versions. */
function inOrder(notices: readonly NoticeRow[]): NoticeRow[] {
  const byRecord = Map.groupBy(notices, ({ record_id: id }) => id);
  for (const [id, own] of byRecord)
    byRecord.set(
      id,
      own.toSorted((one, other) => one.version - other.version),
    );
  return notices.map(({ record_id: id }) => byRecord.get(id)!.shift()!);
}

class Batch {
  readonly #known: Known;
  /** By group and key. */
  readonly #threads = new Map<string, ThreadRow>();
  /** Their names in that map, by id. */
  readonly #names = new Map<string, string>();
  readonly #items = new Map<string, ItemRow>();
  readonly #added = new Set<string>();
  readonly #changedThreads = new Set<string>();
  readonly #changedItems = new Set<string>();

  constructor(known: Known) {
    this.#known = known;
    for (const thread of known.threads) this.#set(thread);
    for (const item of known.items) this.#items.set(itemName(item), item);
  }

  give(notice: NoticeRow, listener: Listener): void {
    const { places, campaignOf, now } = this.#known;
    const place = places.get(notice.id)!;
    const { key, isCountedOnly } = destinationOf(listener, notice, campaignOf);
    const known = this.#threads.get(`${listener.id} ${key}`);
    const only = onlyGroupOf(notice);
    if (only !== undefined && (only !== listener.id || listener.isDeleted)) return;
    // What was told before is told to its end, whatever the group follows now.
    if (only === undefined && !isFor(listener, notice.kind, place) && !(known && notice.phase === 'resolve')) return;
    if (!known && notice.phase === 'resolve') return;
    const thread = known ?? this.#newThread(notice, listener, key, place);
    const item = this.#items.get(itemName({ thread_id: thread.id, record_id: notice.record_id }));
    const applied = applyNotice(thread, item, notice, now);
    if (!applied) return;
    if (!known) this.#added.add(thread.id);
    const { pending, flush_at, kinds } = thread;
    const next = isCountedOnly ? { ...applied.thread, pending, flush_at, kinds } : applied.thread;
    this.#putItem(applied.item);
    this.#put(this.#underParent(next, thread, this.#known.silenced.has(notice.id)));
  }

  result(): Routed {
    const threads = [...this.#threads.values()];
    return {
      added: threads.filter(({ id }) => this.#added.has(id)),
      changed: threads.filter(({ id }) => this.#changedThreads.has(id) && !this.#added.has(id)),
      items: [...this.#items.values()].filter((item) => this.#changedItems.has(itemName(item))),
    };
  }

  /** What opens while another thread of the group stands for it, or ends there, is told by that thread; what is silenced is told by none. */
  #underParent(thread: ThreadRow, before: ThreadRow, isSilenced: boolean): ThreadRow {
    const { now } = this.#known;
    // What was told is told to its end by itself.
    const opens = thread.state === 'open' && before.state !== 'open';
    const known = this.#byId(thread.parent_id);
    if (opens && known && isTooRestless(known, this.#byId(known.parent_id), thread))
      return this.#underParent(standAlone(thread, now), before, isSilenced);
    const isNew = opens && before.told_open === 0 && (before.flapping_since === null || thread.flapping_since === null);
    const parent = thread.parent_id === null && isNew ? this.#parentFor(thread, isSilenced) : known;
    if (!parent || parent.state !== 'open') return thread;
    if (isStandIn(parent)) this.#put(stir(parent, thread, now));
    return { ...thread, parent_id: parent.id, told_in: null, pending: null, pending_since: null, flush_at: null };
  }

  #parentFor(thread: ThreadRow, isSilenced: boolean): ThreadRow | undefined {
    return parentOf(thread, (key) => this.#threads.get(`${thread.group_id} ${key}`), isSilenced);
  }

  #byId(id: string | null): ThreadRow | undefined {
    const name = id === null ? undefined : this.#names.get(id);
    return name === undefined ? undefined : this.#threads.get(name);
  }

  #put(thread: ThreadRow): void {
    this.#set(thread);
    this.#changedThreads.add(thread.id);
  }

  #set(thread: ThreadRow): void {
    this.#threads.set(nameOf(thread), thread);
    this.#names.set(thread.id, nameOf(thread));
  }

  #putItem(item: ItemRow): void {
    this.#items.set(itemName(item), item);
    this.#changedItems.add(itemName(item));
  }

  #newThread(notice: NoticeRow, listener: Listener, key: string, place: Place): ThreadRow {
    const { newId, now } = this.#known;
    return {
      ...newThread({ id: newId(), teamId: notice.team_id, groupId: listener.id, key, kind: notice.kind, now }),
      severity: notice.severity,
      ...placeOfThread(key, notice, place),
      first_at: notice.at,
      // Nothing is open in it yet.
      state: 'ended',
    };
  }
}

function nameOf({ group_id: groupId, key }: Pick<ThreadRow, 'group_id' | 'key'>): string {
  return `${groupId} ${key}`;
}

function itemName({ thread_id: threadId, record_id: recordId }: Pick<ItemRow, 'thread_id' | 'record_id'>): string {
  return `${threadId} ${recordId}`;
}
