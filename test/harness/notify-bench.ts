import type { AddressOf, Channel, OutgoingMessage, SendResult } from '../../server/outbound/notifications/channels/types.ts';
import type { Channels } from '../../server/outbound/notifications/channels/set.ts';
import type { MessageLinks } from '../../server/outbound/notifications/leaving/links.ts';
import type { AddressBook } from '../../server/outbound/notifications/messages/addresses.ts';
import { MessagesService } from '../../server/outbound/notifications/messages/service.ts';
import { DEFAULT_SENDER_RULES } from '../../server/outbound/notifications/messages/types.ts';
import { ThreadsService } from '../../server/outbound/notifications/threads/service.ts';
import { newId } from '../../server/platform/core/ids.ts';
import { insertNotices } from '../../server/platform/notices/store.ts';
import type { NewNotice } from '../../server/platform/notices/types.ts';
import type { DbOrTx, Storage } from '../../server/platform/storage/db.ts';
import type { ManualClock } from './manual-clock.ts';
import { silentLog } from './silent-log.ts';

/** Every member has an email address that is proved, and nothing else. */
export const accountAddresses: AddressBook = {
  async plan(tx, teamId, occasions) {
    const emails = await emailsOf(tx, teamId);
    return occasions.map(({ group: { recipients, notifiables } }) => {
      const taken = new Set<string>();
      const entries = [...recipients.map((id) => ({ id, channel: 'email' })), ...notifiables];
      return entries.map(({ id, channel }) => {
        const isKnown = emails.has(id) && channel === 'email';
        const reason = !isKnown ? 'no_address' : taken.has(id) ? 'duplicate' : null;
        taken.add(id);
        return {
          recipient: { type: 'person', id, channel },
          addressId: reason === null ? id : null,
          bucket: reason === null ? 'email' : '',
          quiet: null,
          digest: null,
          reason,
          shown: emails.get(id) ?? null,
        };
      });
    });
  },
  async open(db, teamId, _by, { id }) {
    const to = (await emailsOf(db, teamId)).get(id);
    return to === undefined ? { reason: 'no_address' } : { address: { channel: 'email', to }, addressId: id };
  },
  otherWay: async () => undefined,
  switchOff: async () => false,
  followChat: async () => undefined,
};

async function emailsOf(db: DbOrTx, teamId: string): Promise<Map<string, string>> {
  const rows = await db
    .selectFrom('members')
    .innerJoin('users', 'users.id', 'members.user_id')
    .select(['users.id', 'users.email'])
    .where('members.team_id', '=', teamId)
    .where('members.active', '=', 1)
    .execute();
  return new Map(rows.map(({ id, email }) => [id, email]));
}

/** A mail that arrived. */
export interface Mail {
  to: string;
  kind: string;
  subject: string;
  /** Its first sentence. */
  first: string;
  /** Why its reader gets it. */
  reason: string;
  id: string;
  previous: number;
  at: number;
  /** For `List-Unsubscribe`. */
  unsubscribeUrl: string | undefined;
  /** Of the page on which the reader takes the thread over. */
  acknowledgeUrl: string | null;
}

/** A mail server that says what the test wants. */
export class FakeMailServer implements Channel<'email'> {
  readonly name = 'email';
  limits = { perSecond: 1000, burst: 1000 };
  readonly mails: Mail[] = [];
  /** Requests, also those that were refused. */
  readonly asked: number[] = [];
  answer: (message: OutgoingMessage, to: string) => SendResult = () => ({ outcome: 'sent' });
  readonly #now: () => number;

  constructor(now: () => number) {
    this.#now = now;
  }

  bucketOf(): string {
    return 'email';
  }

  async send(message: OutgoingMessage, { to }: AddressOf<'email'>, _signal?: AbortSignal): Promise<SendResult> {
    this.asked.push(this.#now());
    const result = this.answer(message, to);
    const { id, thread, text, previousIds, unsubscribeUrl } = message;
    const { subject, first, acknowledgeUrl, labels } = text;
    const previous = previousIds.length;
    if (result.outcome === 'sent')
      this.mails.push({
        to,
        kind: thread.kind,
        subject,
        first,
        reason: labels.reason,
        id,
        previous,
        at: this.#now(),
        unsubscribeUrl,
        acknowledgeUrl,
      });
    return result;
  }

  /** `open` and so on, for one person. */
  kindsOf(to: string): string[] {
    return this.mails.filter((mail) => mail.to === to).map(({ kind }) => kind);
  }
}

/** Chats of Telegram: what comes is among the mails, with the number of the chat. */
class FakeChats implements Channel<'telegram'> {
  readonly name = 'telegram';
  readonly limits = { perSecond: 1000, burst: 1000 };
  readonly #server: FakeMailServer;

  constructor(server: FakeMailServer) {
    this.#server = server;
  }

  bucketOf({ chatId }: AddressOf<'telegram'>): string {
    return `telegram:${chatId}`;
  }

  send(message: OutgoingMessage, { chatId }: AddressOf<'telegram'>): Promise<SendResult> {
    return this.#server.send(message, { to: chatId });
  }
}

type Links = Pick<MessageLinks, 'acknowledgeUrl'>;
const NO_LINKS: Links = { acknowledgeUrl: () => 'https://signalbox.example/mail/acknowledge/token' };

/** Notices, threads and messages over a database, with a clock that the test moves and no timers. */
export class NotifyBench {
  readonly server: FakeMailServer;
  threads!: ThreadsService;
  messages!: MessagesService;
  #before: MessagesService | undefined;
  readonly #storage: Storage;
  readonly #clock: ManualClock;
  readonly #addresses: AddressBook;
  readonly #links: Links;
  readonly #channels: Channels;

  /** @param channels real ones instead of {@link server} */
  constructor(
    storage: Storage,
    clock: ManualClock,
    addresses: AddressBook = accountAddresses,
    links: Links = NO_LINKS,
    channels?: Channels,
  ) {
    this.#storage = storage;
    this.#clock = clock;
    this.#addresses = addresses;
    this.#links = links;
    this.server = new FakeMailServer(() => clock.now());
    this.#channels = channels ?? { email: this.server, telegram: new FakeChats(this.server) };
    this.restart();
  }

  /** A new process over the same database. */
  restart(storage = this.#storage, rules = DEFAULT_SENDER_RULES): void {
    // Its timers are on the same clock.
    void this.#before?.stop();
    const deps = { storage, clock: this.#clock, log: silentLog };
    const messages = new MessagesService({
      ...deps,
      addresses: this.#addresses,
      channels: this.#channels,
      links: this.#links,
      publicUrl: 'https://signalbox.example',
      rules,
      random: () => 0.5,
    });
    this.messages = messages;
    this.#before = messages;
    this.threads = new ThreadsService({
      ...deps,
      rules: { afterAgentMs: 60_000 },
      campaignOf: (key) => /^campaign (\S+)/.exec(key)?.[1],
      writeMessages: (...written) => messages.write(...written),
      digests: messages.digests,
      onMessages: () => undefined,
    });
  }

  async facts(notices: readonly NewNotice[]): Promise<void> {
    await this.#storage.writes.write((tx) => insertNotices(tx, notices, this.#clock.now()));
  }

  /** Does everything that is due now. */
  async settle(): Promise<void> {
    await this.threads.run();
    this.messages.wake();
    await this.messages.idle();
  }

  /** Time goes by from one due time to the next. */
  async pass(ms: number): Promise<void> {
    const end = this.#clock.now() + ms;
    await this.settle();
    for (;;) {
      const next = await this.#nextDue();
      if (next === null || next > end) break;
      this.#clock.advance(Math.max(1, next - this.#clock.now()));
      await this.settle();
    }
    this.#clock.advance(end - this.#clock.now());
    await this.settle();
  }

  async #nextDue(): Promise<number | null> {
    const { db } = this.#storage;
    const now = this.#clock.now();
    const threads = await db.selectFrom('threads').select('flush_at as at').where('flush_at', '>', now).execute();
    const messages = await db.selectFrom('messages').select('due_at as at').where('due_at', '>', now).execute();
    const digests = await db.selectFrom('messages').select('digest_at as at').where('digest_at', '>', now).execute();
    const times = [...threads, ...messages, ...digests].map(({ at }) => at!);
    return times.length === 0 ? null : Math.min(...times);
  }

  /** Rows of the delivery log, oldest first. */
  log() {
    return this.#storage.db.selectFrom('messages').selectAll().orderBy('id').execute();
  }
}

/** A member of a team with an account. @returns the user's id */
export async function seedPerson({ db }: Storage, teamId: string, email: string, groupId?: string): Promise<string> {
  const id = newId(1000);
  await db.insertInto('users').values({ id, email, password_hash: null, created_at: 1000 }).execute();
  await db.insertInto('members').values({ team_id: teamId, user_id: id, role: 'admin', active: 1, created_at: 1000 }).execute();
  if (groupId !== undefined)
    await db
      .insertInto('group_recipients')
      .values({ team_id: teamId, group_id: groupId, user_id: id, position: Number(`0x${id.slice(-6)}`) })
      .execute();
  return id;
}
