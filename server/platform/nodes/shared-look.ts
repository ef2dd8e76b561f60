import type { RawBuilder, SqlBool } from 'kysely';
import type { Clock } from '../core/clock.ts';
import type { Log } from '../core/log.ts';
import { Periodic } from '../core/periodic.ts';
import { answerAll } from '../storage/changed-since.ts';
import type { ChangeMark, IsChanged } from '../storage/changed-since.ts';
import type { Storage } from '../storage/db.ts';

/** Hints are lost while the bus is away: what they tell is found this late then. Milliseconds. */
const LOOK_EVERY_MS = 5000;

export interface Question {
  /** Whether there is anything to do, as a condition in SQL. `isChanged` is about the time since the last answer. */
  asks: (isChanged: IsChanged) => RawBuilder<SqlBool>;
  /** Called with every answer, but never again before it has ended: the next look asks then. */
  onAnswer: (isSo: boolean) => Promise<void>;
  /** The log message when that fails. */
  failure: string;
}

interface Asked extends Question {
  mark: ChangeMark;
  running: Promise<void> | undefined;
}

/**
 * Looks every five seconds for what other control planes have written. All who want to know ask by one statement, which is all that is sent
 * while nothing happens.
 */
export class SharedLook {
  readonly #deps: { storage: Storage; log: Log };
  readonly #looks: Periodic;
  readonly #asked = new Set<Asked>();

  constructor(deps: { storage: Storage; clock: Clock; log: Log }) {
    this.#deps = deps;
    this.#looks = new Periodic({
      ...deps,
      everyMs: LOOK_EVERY_MS,
      failure: 'what other control planes have written could not be looked for',
      run: () => this.#look(),
    });
  }

  start(): void {
    this.#looks.start();
  }

  stop(): Promise<void> {
    return this.#looks.stop();
  }

  /** The first answer to a question about changes is yes. @returns ends it; resolves when `onAnswer` does not run any more */
  ask(question: Question): () => Promise<void> {
    const asked: Asked = { ...question, mark: undefined, running: undefined };
    this.#asked.add(asked);
    return async () => {
      this.#asked.delete(asked);
      await asked.running;
    };
  }

  /** @throws a storage error */
  async #look(): Promise<void> {
    const questions = [...this.#asked].filter(({ running }) => !running);
    if (questions.length === 0) return;
    const { answers, mark } = await answerAll(this.#deps.storage.db, questions);
    for (const [index, asked] of questions.entries()) {
      if (!this.#asked.has(asked)) continue;
      asked.mark = mark;
      asked.running = this.#answer(asked, answers[index] === true);
    }
  }

  /** Never rejects. Nobody but the one that asked waits for it: it may wait for an agent. */
  async #answer(asked: Asked, isSo: boolean): Promise<void> {
    try {
      await asked.onAnswer(isSo);
    } catch (error) {
      this.#deps.log.warn({ err: error }, asked.failure);
    }
    asked.running = undefined;
  }
}
