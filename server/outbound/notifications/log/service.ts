import type { Clock } from '../../../platform/core/clock.ts';
import { notFound } from '../../../platform/core/errors.ts';
import type { Found, ListPage } from '../../../platform/core/list-page.ts';
import type { Page } from '../../../platform/core/page.ts';
import type { Principal } from '../../../platform/core/principal.ts';
import type { Storage } from '../../../platform/storage/db.ts';
import { wholeAddress } from '../contacts/read-contact.ts';
import type { ContactsService } from '../contacts/service.ts';
import type { MessageRow } from '../messages/types.ts';
import { readFacts } from '../messages/view/facts.ts';
import { viewOf } from '../messages/view/read.ts';
import type { Facts } from '../messages/view/subject.ts';
import type { MessageKind } from '../texts/types.ts';
import { writeText } from '../texts/write.ts';
import { DIGEST_KIND, listsThreads } from '../threads/gather.ts';
import { TEST_KIND } from '../threads/new-thread.ts';
import type { ThreadRow } from '../threads/types.ts';
import { itemOfRecord, itemOfThread } from './items.ts';
import { findMessages, selectAttempts, selectOfThread, selectSaid, selectTargetNames } from './messages/store.ts';
import type { SaidRow } from './messages/store.ts';
import { findThreads, selectGroupNames, selectThreads } from './threads/store.ts';
import type { ListedItem, ListedThread, LoggedMessage, MessageFilter, ThreadFilter } from './types.ts';

/** More than a person reads; the thread counts all. */
export const MOST_ITEMS = 200;

export interface DeliveryLogDeps {
  storage: Storage;
  clock: Clock;
  contacts: Pick<ContactsService, 'listOwn'>;
  /** Of the console. */
  publicUrl: string;
}

type Said = Pick<LoggedMessage, 'subject' | 'subject_time_zone'>;

/** Who asks: a person sees their own addresses whole. */
export type Viewer = Pick<Principal, 'kind' | 'id' | 'teamId'>;

/** What was told, to whom, and why not: for people. It changes nothing. */
export class DeliveryLog {
  readonly #deps: DeliveryLogDeps;

  constructor(deps: DeliveryLogDeps) {
    this.#deps = deps;
  }

  async findThreads(
    teamId: string,
    filter: ThreadFilter,
    page: ListPage,
    wantsTotal: boolean,
    timeZone?: string,
  ): Promise<Found<ListedThread>> {
    const { db } = this.#deps.storage;
    const { rows, total } = await findThreads(db, teamId, filter, page, wantsTotal);
    return { rows: await this.#listed(teamId, await readFacts(db, teamId, rows), timeZone), total };
  }

  /** With the first of what is in it, at most {@link MOST_ITEMS}. @throws AppError `not_found` */
  async getThread(teamId: string, threadId: string, timeZone?: string): Promise<{ thread: ListedThread; items: ListedItem[] }> {
    const { db } = this.#deps.storage;
    const [row] = await selectThreads(db, teamId, [threadId]);
    if (!row) throw notFound('thread');
    const [facts] = await readFacts(db, teamId, [row], MOST_ITEMS);
    const [thread] = await this.#listed(teamId, [facts!], timeZone);
    const { children, items } = facts!;
    const subjects = row.kind === DIGEST_KIND ? await this.#subjectsOf(teamId, children, timeZone) : undefined;
    const listed = listsThreads(row)
      ? children.slice(0, MOST_ITEMS).map((child) => itemOfThread(child, facts!, subjects?.get(child.id)))
      : items.map((item) => itemOfRecord(item, facts!));
    return { thread: thread!, items: listed };
  }

  /** What there is to say of the threads of a digest, by id: they have nothing in common but their reader. */
  async #subjectsOf(teamId: string, threads: readonly ThreadRow[], timeZone: string | undefined): Promise<Map<string, string>> {
    const all = await readFacts(this.#deps.storage.db, teamId, threads.slice(0, MOST_ITEMS));
    return new Map(all.map((facts) => [facts.thread.id, this.#subjectOf(facts, kindOf(facts.thread), timeZone)]));
  }

  /** The delivery log, also of what was not sent. */
  async findMessages(
    viewer: Viewer,
    filter: MessageFilter,
    page: ListPage,
    wantsTotal: boolean,
    timeZone?: string,
  ): Promise<Found<LoggedMessage>> {
    const { rows, total } = await findMessages(this.#deps.storage.db, viewer.teamId, filter, page, wantsTotal);
    return { rows: await this.#logged(viewer, rows, timeZone), total };
  }

  /** Those of one thread, newest first. @throws AppError `not_found` */
  async messagesOf(viewer: Viewer, threadId: string, page: Page, timeZone?: string): Promise<LoggedMessage[]> {
    const { db } = this.#deps.storage;
    const [thread] = await selectThreads(db, viewer.teamId, [threadId]);
    if (!thread) throw notFound('thread');
    return this.#logged(viewer, await selectOfThread(db, viewer.teamId, threadId, page), timeZone);
  }

  async #listed(teamId: string, all: readonly Facts[], timeZone: string | undefined): Promise<ListedThread[]> {
    const groups = await selectGroupNames(
      this.#deps.storage.db,
      teamId,
      all.map(({ thread }) => thread.group_id),
    );
    return all.map((facts) => {
      const { thread } = facts;
      const subject = this.#subjectOf(facts, kindOf(thread), timeZone);
      return { ...thread, group: groups.get(thread.group_id) ?? '', subject, taker: facts.taker };
    });
  }

  async #logged(viewer: Viewer, rows: readonly MessageRow[], timeZone: string | undefined): Promise<LoggedMessage[]> {
    const { db } = this.#deps.storage;
    const { teamId } = viewer;
    const threads = byId(
      await selectThreads(
        db,
        teamId,
        rows.map(({ thread_id: id }) => id),
      ),
    );
    // A thread that went between the two looks took its messages along.
    const present = rows.filter(({ thread_id: id }) => threads.has(id));
    const subjects = await this.#said(teamId, present, threads, timeZone);
    const groups = await selectGroupNames(
      db,
      teamId,
      present.map(({ group_id: id }) => id),
    );
    const ofTargets = present.filter(({ recipient_type: type }) => type === 'target');
    const targets = await selectTargetNames(
      db,
      teamId,
      ofTargets.map(({ recipient_id: id }) => id),
    );
    const tries = await selectAttempts(
      db,
      teamId,
      present.map(({ id }) => id),
    );
    const own = await this.#ownAddresses(viewer, present);
    return present.map((row) => ({
      ...row,
      ...subjects.get(row.id)!,
      address: own.get(`${row.recipient_id} ${row.channel} ${row.address}`) ?? row.address,
      group: groups.get(row.group_id) ?? '',
      target: row.recipient_type === 'target' ? (targets.get(row.recipient_id) ?? '') : null,
      thread: threads.get(row.thread_id)!,
      tries: tries.get(row.id) ?? [],
    }));
  }

  /**
   * What messages say, by id: as they were sent. What will never be sent says what others were told at that moment; where nobody was told
   * in English, and before it is sent, it says how it is now.
   */
  async #said(
    teamId: string,
    messages: readonly MessageRow[],
    threads: ReadonlyMap<string, ThreadRow>,
    timeZone: string | undefined,
  ): Promise<Map<string, Said>> {
    const { db } = this.#deps.storage;
    const unsent = messages.filter(({ subject }) => subject === null);
    const told = await selectSaid(db, teamId, unsent.filter(isSettled));
    const toldToOthers = (message: MessageRow): Said | undefined => {
      const same = isSettled(message) ? told.filter((other) => isSameNews(message, other)) : [];
      return same.find(({ subject_time_zone: zone }) => zone === null || zone === timeZone) ?? same[0];
    };
    const said = new Map<string, Said>();
    for (const message of messages) {
      const { id, subject, subject_time_zone } = message;
      const known = subject === null ? toldToOthers(message) : { subject, subject_time_zone };
      if (known) said.set(id, { subject: known.subject, subject_time_zone: known.subject_time_zone });
    }
    const unknown = unsent.filter(({ id }) => !said.has(id));
    const unsaid = new Set(unknown.map(({ thread_id: id }) => threads.get(id)!));
    const facts = new Map((await readFacts(db, teamId, [...unsaid])).map((read) => [read.thread.id, read]));
    for (const { id, thread_id: threadId, kind } of unknown)
      said.set(id, this.#wouldSay(facts.get(threadId)!, kind as MessageKind, timeZone));
    return said;
  }

  /** The viewer's addresses, by what is stored of them in messages. */
  async #ownAddresses({ kind, id, teamId }: Viewer, rows: readonly MessageRow[]): Promise<Map<string, string>> {
    const isOwn = (row: MessageRow): boolean => kind === 'user' && row.recipient_type === 'person' && row.recipient_id === id;
    if (!rows.some(isOwn)) return new Map();
    const contacts = await this.#deps.contacts.listOwn({ teamId, userId: id });
    return new Map(contacts.map(({ contact, address }) => [`${id} ${contact.channel} ${contact.shown}`, wholeAddress(contact, address)]));
  }

  #subjectOf(facts: Facts, kind: MessageKind, timeZone: string | undefined): string {
    return this.#wouldSay(facts, kind, timeZone).subject;
  }

  /** In English, and with the times of the site if the reader asks for no other: it is for the whole team. */
  #wouldSay(facts: Facts, kind: MessageKind, timeZone: string | undefined): Said {
    const { clock, publicUrl } = this.#deps;
    const view = viewOf(facts, { kind, publicUrl, now: clock.now() });
    const { subject, subjectTimeZone } =
      timeZone === undefined
        ? writeText(view, { locale: 'en', timeZone: view.siteTimeZone ?? 'UTC' })
        : writeText({ ...view, siteTimeZone: null }, { locale: 'en', timeZone });
    return { subject, subject_time_zone: subjectTimeZone };
  }
}

/** Of the message that would say how it is now. */
function kindOf({ kind, state, ended_at: endedAt }: ThreadRow): MessageKind {
  if (kind === TEST_KIND) return 'test';
  if (kind === DIGEST_KIND) return 'digest';
  // What has no end has just happened.
  return state === 'open' || endedAt === null ? 'open' : 'resolve';
}

/** It will never be sent, or was. */
function isSettled({ state }: MessageRow): boolean {
  return state !== 'pending' && state !== 'held';
}

function isSameNews(one: MessageRow, other: SaidRow): boolean {
  return one.thread_id === other.thread_id && one.revision === other.revision && one.kind === other.kind;
}

function byId(threads: readonly ThreadRow[]): Map<string, ThreadRow> {
  return new Map(threads.map((thread) => [thread.id, thread]));
}
