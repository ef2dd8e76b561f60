import { randomInt } from 'node:crypto';
import type { Clock } from './clock.ts';
import type { BatchedRows, Counters } from './counters.ts';
import type { Log } from './log.ts';
import { Periodic } from './periodic.ts';
import { RecordWriter } from './record-writer.ts';
import { FINE_STEP_MS, stepStart } from './time-steps.ts';

/** Measurements are stored within five minutes; a killed control plane loses no more. A shorter time means more writes per step. */
export const STORED_WITHIN_MS = 300_000;
/** Interval of the check for due rows, which spreads the writes of many subjects. */
const LOOK_EVERY_MS = 10_000;
/** Rows that wait while the database is unavailable: the steps of 20,000 subjects in an hour; 500 bytes each. */
const MOST_WAITING = 80_000;
/** Numbers of parts fit an integer of every database. */
export const MOST_PARTS = 2 ** 31 - 1;

/** One step of a subject. A control plane that starts, or whose clock is set back, begins another part of the same step. */
export interface StepKey {
  subject: string;
  /** Its beginning by the wall clock, milliseconds since 1970. */
  at: number;
  /** Drawn at random: parts of one step are read together and never overwrite each other. */
  part: number;
}

interface Present<Sums> extends StepKey {
  sums: Sums;
  /** When it got what is not stored yet, in monotonic time. */
  changedAt: number | undefined;
}

interface Waiting<Row> {
  id: string;
  row: Row;
}

export interface StepWriterOptions<Sums, Row> {
  clock: Clock;
  log: Log;
  counters?: Pick<Counters, 'refuseRows'> | undefined;
  kind: BatchedRows;
  newSums: () => Sums;
  rowOf: (key: StepKey, sums: Sums) => Row;
  /** Inserts the rows in one transaction, or overwrites them by subject, step and part. */
  upsert: (rows: readonly Row[]) => Promise<void>;
}

/**
 * Gathers measurements of many subjects in memory, in steps of a quarter of an hour, and writes them to the database. What measures
 * never waits. The wall clock only names the steps: when it is set, the present step of each subject ends where it is.
 */
export class StepWriter<Sums, Row> {
  readonly #options: StepWriterOptions<Sums, Row>;
  readonly #present = new Map<string, Present<Sums>>();
  readonly #rows: RecordWriter<Waiting<Row>>;
  readonly #looks: Periodic;

  constructor(options: StepWriterOptions<Sums, Row>) {
    this.#options = options;
    const { clock, log, counters, kind } = options;
    const upsert = (waiting: readonly Waiting<Row>[]): Promise<void> => options.upsert(waiting.map(({ row }) => row));
    this.#rows = new RecordWriter<Waiting<Row>>({ clock, log, counters, kind, upsert, most: MOST_WAITING });
    this.#looks = new Periodic({
      clock,
      log,
      everyMs: LOOK_EVERY_MS,
      failure: `${kind} could not be collected`,
      // One look may come late, and then the rows are written soon.
      run: () => this.#collect(STORED_WITHIN_MS - 2 * LOOK_EVERY_MS),
    });
  }

  start(): void {
    this.#rows.start();
    this.#looks.start();
  }

  /** Writes what is still in memory. */
  async stop(): Promise<void> {
    await this.#looks.stop();
    this.#collect(0);
    await this.#rows.stop();
  }

  /** The sums of the subject's present step, to be added to in this turn. */
  sumsOf(subject: string): Sums {
    const { clock, newSums } = this.#options;
    const at = stepStart(clock.now(), FINE_STEP_MS);
    let step = this.#present.get(subject);
    if (step?.at !== at) {
      if (step) this.#put(step);
      step = { subject, at, part: randomInt(MOST_PARTS), sums: newSums(), changedAt: undefined };
      this.#present.set(subject, step);
    }
    step.changedAt ??= clock.monotonic();
    return step.sums;
  }

  /** Resolves when everything about a subject is stored, or could not be stored now. */
  async stored(subject: string): Promise<void> {
    const step = this.#present.get(subject);
    if (step) this.#put(step);
    await this.#rows.flush();
  }

  #collect(waitedMs: number): void {
    const { clock } = this.#options;
    const [now, at] = [clock.monotonic(), stepStart(clock.now(), FINE_STEP_MS)];
    for (const step of this.#present.values()) {
      const isOver = step.at !== at;
      if (isOver) this.#present.delete(step.subject);
      if (isOver || now - (step.changedAt ?? now) >= waitedMs) this.#put(step);
    }
  }

  #put(step: Present<Sums>): void {
    if (step.changedAt === undefined) return;
    step.changedAt = undefined;
    const { subject, at, part, sums } = step;
    this.#rows.put({ id: `${subject} ${at} ${part}`, row: this.#options.rowOf(step, sums) });
  }
}
