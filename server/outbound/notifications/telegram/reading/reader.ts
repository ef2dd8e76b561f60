import { DueWork } from '../../../../platform/core/due-work.ts';
import { newId } from '../../../../platform/core/ids.ts';
import type { Log } from '../../../../platform/core/log.ts';
import { sampledLog } from '../../../../platform/core/sampled-log.ts';
import { READ_AT_ONCE } from '../bot.ts';
import type { TelegramBot } from '../bot.ts';
import { READER } from '../store.ts';
import type { BotFailure } from '../types.ts';
import { ReadOutcomes } from './outcomes.ts';
import { claimReader, releaseReader, selectNextRead, settleReader } from './store.ts';
import type { ClaimedReader } from './store.ts';
import { takeUpdates } from './take.ts';
import type { Proved, Said, TakeDeps } from './take.ts';
import { LEASE_MS, SAY_WITHIN_MS, nextTry, positionOf, waitSeconds } from './timing.ts';

/** Finds the links that a process has left which was killed. As often as the rest of the notifier looks. */
const LOOK_EVERY_MS = 30_000;
/** The same trouble after this time without a request is a new one, milliseconds. */
const TROUBLE_MS = 10 * 60_000;

export interface ReaderDeps extends TakeDeps {
  log: Log;
  bot: Pick<TelegramBot, 'read' | 'say'>;
  /** For the audit log. */
  onProved: (proved: Proved) => void;
}

/**
 * Reads what people write to the bot while a link waits, as `DueWork` says: one request after the other, by the control plane that has the claim.
 * While no link waits nothing is asked of Telegram.
 */
export class TelegramReader {
  readonly #deps: ReaderDeps;
  readonly #log: Log;
  readonly #work: DueWork<{ id: string }, ClaimedReader>;
  /** What this process's requests came to. */
  readonly outcomes = new ReadOutcomes();
  /** Of the last look. */
  #nextAt: number | null = null;

  constructor(deps: ReaderDeps) {
    const { storage, clock, log } = deps;
    this.#deps = deps;
    this.#log = sampledLog(log, clock);
    this.#work = new DueWork({
      clock,
      log,
      atOnce: { total: 1, perParty: 1, perMember: 1 },
      pollMs: LOOK_EVERY_MS,
      // A request that waits has nothing to lose.
      stopWithinMs: 0,
      failure: 'links to the Telegram bot could not be read',
      selectDue: async (now) => {
        this.#nextAt = await selectNextRead(storage.db, now);
        return this.#nextAt !== null && this.#nextAt <= now ? [{ id: READER }] : [];
      },
      holderOf: () => ({ party: READER }),
      claim: async (_due, now) => {
        const claimed = await storage.writes.write((tx) => claimReader(tx, { claim: newId(now), now, until: now + LEASE_MS }));
        return claimed ? [claimed] : [];
      },
      run: (reader, stop) => this.#run(reader, stop),
      // The look has read it.
      selectNextDue: async (now) => (this.#nextAt !== null && this.#nextAt > now ? this.#nextAt : null),
    });
  }

  /** A link may wait. */
  wake(): void {
    this.#work.wake();
  }

  /** Resolves when nothing is read. */
  idle(): Promise<void> {
    return this.#work.idle();
  }

  stop(): Promise<void> {
    return this.#work.stop();
  }

  /** Never rejects: what could not be stored is read again when the claim expires. */
  async #run(reader: ClaimedReader, stop: AbortSignal): Promise<void> {
    try {
      await this.#read(reader, stop);
    } catch (error) {
      this.#log.error({ err: error }, 'messages to the Telegram bot could not be taken; they are read again');
    }
  }

  async #read(reader: ClaimedReader, stop: AbortSignal): Promise<void> {
    const { storage, clock, bot, onProved } = this.#deps;
    const startedAt = clock.now();
    let next: number | null = null;
    const read = await bot.read(
      {
        next: (botId) => (next = positionOf(reader, botId, startedAt)),
        // An answer that was too long cannot be used; the one message in it that is can be passed.
        limit: reader.failures === 0 ? READ_AT_ONCE : 1,
        waitSeconds: waitSeconds(reader.waitsUntil - startedAt, reader.failures),
      },
      stop,
    );
    if (read.outcome === 'stopped') {
      await storage.writes.write((tx) => releaseReader(tx, reader.claim));
      return;
    }
    if (read.outcome === 'failed') {
      await this.#onFailure(reader, read);
      return;
    }
    const { botId, updates } = read;
    // Telegram never repeats what was confirmed; a server that does must not keep this process busy.
    const fresh = updates.filter(({ id }) => id >= (next ?? 0));
    const taken = await takeUpdates(this.#deps, reader, { botId, updates: fresh, startedAt });
    this.outcomes.add('read');
    if (reader.problem !== null) this.#log.info({}, 'messages to the Telegram bot can be read again');
    for (const proved of taken?.proved ?? []) onProved(proved);
    await this.#say(taken?.said ?? [], stop);
  }

  async #onFailure(reader: ClaimedReader, { problem, detail, retryAfterMs }: BotFailure): Promise<void> {
    const { storage, clock } = this.#deps;
    const now = clock.now();
    const isLater = now - (reader.read_at ?? 0) > TROUBLE_MS;
    const failures = isLater ? 1 : reader.failures + 1;
    const end = { dueAt: nextTry({ failures, retryAfterMs, now }), failures, problem };
    // Whoever has the claim now has ended this request.
    if (!(await storage.writes.write((tx) => settleReader(tx, reader.claim, end, now)))) return;
    this.outcomes.add(problem);
    if (isLater || reader.problem !== problem)
      this.#log.warn({ reason: `${problem}: ${detail}` }, 'messages to the Telegram bot cannot be read; trying again');
  }

  /** The links are stored: what is said here can be lost. */
  async #say(said: readonly Said[], stop: AbortSignal): Promise<void> {
    const signal = AbortSignal.any([stop, AbortSignal.timeout(SAY_WITHIN_MS)]);
    await Promise.all(said.map(({ chatId, text }) => this.#deps.bot.say(chatId, text, signal)));
  }
}
