import type { DbOrTx } from '../../../../platform/storage/db.ts';
import { MAX_ITEMS } from '../../texts/types.ts';
import type { FaultType, MessageKind, ThreadItem, ThreadView } from '../../texts/types.ts';
import { DIGEST_KIND, listsThreads } from '../../threads/gather.ts';
import { openingsOf } from '../../threads/apply.ts';
import type { ItemRow, ThreadRow } from '../../threads/types.ts';
import { DIGEST } from '../types.ts';
import type { MessageRow } from '../types.ts';
import { readFacts } from './facts.ts';
import { selectGroupName, selectThreads } from './store.ts';
import { causesOf, dataOf, nameOfThread, routerOf, siteOf, subjectOf, text } from './subject.ts';
import type { Facts } from './subject.ts';

export interface Wanted {
  kind: MessageKind;
  publicUrl: string;
  now: number;
}

/** A thread as it is now, for a message. Undefined when it is gone. */
export async function readView(
  db: DbOrTx,
  message: Pick<MessageRow, 'team_id' | 'thread_id' | 'revision'>,
  wanted: Wanted,
): Promise<ThreadView | undefined> {
  const [thread] = await selectThreads(db, message.team_id, [message.thread_id]);
  if (!thread) return undefined;
  const [facts] = await readFacts(db, message.team_id, [thread]);
  const view = viewOf(facts!, wanted, await readLines(db, message.team_id, facts!, wanted));
  return { ...view, revision: message.revision };
}

type Told = Pick<MessageRow, 'team_id' | 'thread_id' | 'group_id' | 'revision' | 'kind'>;

/** With the group that tells it: another than the thread's, where nobody has acknowledged. A digest is of all groups of its reader. */
async function readTold(db: DbOrTx, message: Told, wanted: Wanted): Promise<ThreadView | undefined> {
  const view = await readView(db, message, wanted);
  if (!view || message.kind === DIGEST) return view;
  return { ...view, group: await selectGroupName(db, message.team_id, message.group_id) };
}

/** What is read of a thread serves the messages to all its readers for so long. */
const SHARED_MS = 2000;
/** Threads of which messages are being sent at once, at most: attempts of all teams. */
const MOST_SHARED = 64;

/** Reads a revision once for all who get it: a storm has thousands of threads, and a group dozens of readers. */
export class SharedViews {
  readonly #read = new Map<string, { until: number; view: Promise<ThreadView | undefined> }>();

  /** @param wanted `now`: of the message; a view is at most two seconds older */
  async read(db: DbOrTx, message: Told, wanted: Wanted): Promise<ThreadView | undefined> {
    const { kind, now } = wanted;
    const name = [message.team_id, message.thread_id, message.group_id, message.revision, kind].join(' ');
    const known = this.#read.get(name);
    if (known && now < known.until && now >= known.until - SHARED_MS) return known.view;
    const view = readTold(db, message, wanted);
    this.#read.delete(name);
    this.#read.set(name, { until: now + SHARED_MS, view });
    const [oldest] = this.#read.keys();
    if (this.#read.size > MOST_SHARED) this.#read.delete(oldest!);
    try {
      return await view;
    } catch (error) {
      this.#read.delete(name);
      throw error;
    }
  }
}

/** The threads whose own words are the list of this one, by id. */
async function readLines(
  db: DbOrTx,
  teamId: string,
  { thread, children }: Facts,
  { publicUrl, now }: Wanted,
): Promise<ReadonlyMap<string, ThreadView>> {
  if (thread.kind !== 'several' && thread.kind !== DIGEST_KIND) return new Map();
  const facts = await readFacts(db, teamId, children.slice(0, MAX_ITEMS));
  return new Map(facts.map((one) => [one.thread.id, viewOf(one, { kind: kindNow(one.thread), publicUrl, now })]));
}

/** What there is to say of it by now. What has no end just happened. */
function kindNow({ state, ended_at: endedAt }: ThreadRow): MessageKind {
  return state === 'open' || endedAt === null ? 'open' : 'was_away';
}

/** A thread as a message of this kind tells it. Pure. @param lines threads in it that are told in their own words */
export function viewOf(facts: Facts, { kind, publicUrl, now }: Wanted, lines?: ReadonlyMap<string, ThreadView>): ThreadView {
  const { thread } = facts;
  const openings = openingsOf(thread);
  return {
    id: thread.id,
    revision: thread.revision,
    kind,
    severity: thread.severity as ThreadView['severity'],
    subject: subjectOf(facts),
    items: listsThreads(thread)
      ? facts.children.slice(0, MAX_ITEMS).map((child) => rowOfThread(facts, child, lines?.get(child.id)))
      : rowsOf(facts),
    // Of a digest, what was deleted meanwhile is not counted.
    itemCount: thread.kind === DIGEST_KIND ? facts.childCount : Math.max(thread.item_count, facts.childCount),
    openCount: thread.open_count,
    firstAt: thread.first_at,
    // What is open comes first, then the newest.
    lastAt: facts.items[0]?.opened_at ?? thread.first_at,
    endedAt: thread.ended_at,
    flapping:
      thread.flapping_since === null
        ? null
        : { times: openings.length, withinMs: Math.max(0, now - (openings[0] ?? now)), now: 'flapping' },
    stillOpen: thread.state === 'ended' ? thread.open_count : 0,
    acknowledgedBy: facts.taker,
    siteTimeZone: thread.site_id === null ? null : (facts.names.sites.get(thread.site_id)?.timeZone ?? null),
    team: facts.names.team,
    group: null,
    url: `${publicUrl}${pageOf(thread)}`,
    at: now,
  };
}

/** Single facts need no list: the first sentence says them. */
function rowsOf(facts: Facts): ThreadItem[] {
  if (facts.items.length < 2) return [];
  return facts.items.map((item) => rowOfItem(facts, item));
}

function rowOfItem(facts: Facts, item: ItemRow): ThreadItem {
  const data = dataOf(item);
  return {
    text: text(data['cause']) || text(data['description']),
    causes: causesOf(data),
    ...faultOf(item.kind),
    router: routerOf(facts, item.router_id),
    site: siteOf(facts, facts.names.routers.get(item.router_id ?? '')?.siteId ?? null),
    openedAt: item.opened_at,
    resolvedAt: item.resolved_at,
  };
}

function rowOfThread(facts: Facts, child: ThreadRow, view: ThreadView | undefined): ThreadItem {
  return {
    text: nameOfThread(facts, child),
    threadId: child.id,
    ...(view === undefined ? {} : { view }),
    ...faultOf(child.kind),
    router: routerOf(facts, child.router_id),
    site: siteOf(facts, child.site_id),
    ...(child.kind === 'site' || child.kind === 'agent_routers' ? { routers: child.open_count } : {}),
    openedAt: child.first_at,
    resolvedAt: child.ended_at,
  };
}

function faultOf(kind: string): { fault?: FaultType } {
  return kind.startsWith('fault.') ? { fault: kind.slice('fault.'.length) as FaultType } : {};
}

/** The page of the web application that shows what it is about. */
function pageOf({ id: threadId, key, kind, site_id: siteId, router_id: routerId }: ThreadRow): string {
  const [word, id] = key.split(':');
  // All that is in it.
  if (kind === 'several' || kind === DIGEST_KIND) return `/notifications/threads/${threadId}`;
  if (kind === 'site' && siteId !== null) return `/sites/${siteId}`;
  if (word === 'agent' || kind === 'agent_routers') return `/agents/${id}`;
  if (word === 'campaign') return `/campaigns/${id}`;
  return routerId === null ? '/' : `/routers/${routerId}`;
}
