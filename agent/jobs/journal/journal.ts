import { randomUUID } from 'node:crypto';
import type { JobResult } from '../../../protocol/index.ts';
import { AgentError } from '../../core/errors.ts';
import type { JournalDisk } from './disk.ts';
import { applyRecord, compactRecords, emptyMemory, recordProblem } from './memory.ts';
import type { JournalEntry, JournalMemory } from './memory.ts';
import { damaged, decodeJournal, encodeRecord } from './records.ts';
import type { BootMark, JournalRecord, StoredOffer } from './records.ts';

/** The file is compacted after this many appended bytes. */
const COMPACT_AFTER_BYTES = 1024 * 1024;

/**
 * The agent's record of jobs, on disk before the agent reports or does anything. Invariants:
 * - a method resolves only when its line is on the disk; when it rejects, nothing has changed;
 * - lines are written one after another, and each is checked against all earlier ones when it is written: BEGIN and REFUSED of the
 *   same job exclude each other in any race.
 */
export class Journal {
  readonly #disk: JournalDisk;
  readonly #newId: () => string;
  #memory: JournalMemory;
  #appended = 0;
  /** False for a new journal while the disk has no space for its first line. */
  #isStored: boolean;
  /** The last queued write; never rejects. */
  #writing: Promise<unknown> = Promise.resolve();

  private constructor(disk: JournalDisk, { memory, isStored }: { memory: JournalMemory; isStored: boolean }, newId: () => string) {
    this.#disk = disk;
    this.#memory = memory;
    this.#isStored = isStored;
    this.#newId = newId;
  }

  /** @throws AgentError `internal` when it is damaged or the disk cannot be read */
  static async open(disk: JournalDisk, newId: () => string = randomUUID): Promise<Journal> {
    const content = await disk.read();
    const { records, goodBytes } = decodeJournal(content ?? Buffer.alloc(0));
    const memory = replay(records);
    const isNew = memory.id === '';
    // A file without a first line never confirmed anything.
    if (isNew) memory.id = newId();
    else if (content && goodBytes < content.length) await disk.truncate(goodBytes);
    const journal = new Journal(disk, { memory, isStored: !isNew }, newId);
    // A full disk must not prevent the start: results that are already in the journal must be reported, and not everything restarts an
    // agent that has ended.
    await journal.#compactIfPossible();
    return journal;
  }

  get id(): string {
    return this.#memory.id;
  }

  /** The newest epoch on disk, 0 for none. */
  get lastEpoch(): number {
    return this.#memory.lastEpoch;
  }

  get(jobId: string): JournalEntry | undefined {
    return this.#memory.entries.get(jobId);
  }

  entries(): JournalEntry[] {
    return [...this.#memory.entries.values()];
  }

  /** The result, without output, of a finished job that was removed. */
  over(jobId: string): JobResult | undefined {
    return this.#memory.over.get(jobId);
  }

  /** Starts an empty journal with a new id, because the control plane does not trust this one. */
  async reset(): Promise<void> {
    await this.#inTurn(async () => {
      const fresh = { ...emptyMemory(), id: this.#newId() };
      await this.#write(fresh);
      this.#memory = fresh;
    });
  }

  async confirmEpoch(epoch: number): Promise<void> {
    await this.#append({ t: 'epoch', epoch });
  }

  async accept(offer: StoredOffer): Promise<void> {
    await this.#append({ t: 'accept', offer });
  }

  /** Records the start of the undo guard's time. @throws AgentError `not_allowed` when the job has begun */
  async guard(jobId: string, boot: BootMark): Promise<void> {
    await this.#append({ t: 'guard', id: jobId, boot });
  }

  /** The guard can no longer fire. */
  async disarmed(jobId: string): Promise<void> {
    await this.#append({ t: 'disarmed', id: jobId });
  }

  /** From now on the script may have run. @throws AgentError `not_allowed` when it was begun or refused before */
  async begin(jobId: string, boot: BootMark): Promise<void> {
    await this.#append({ t: 'begin', id: jobId, boot });
  }

  /** The job will never begin. @throws AgentError `not_allowed` when it has begun */
  async refuse(jobId: string): Promise<void> {
    await this.#append({ t: 'refused', id: jobId });
  }

  async end(jobId: string, result: JobResult): Promise<void> {
    await this.#append({ t: 'end', id: jobId, result });
  }

  /** The control plane has the outcome. */
  async acked(jobId: string): Promise<void> {
    await this.#append({ t: 'acked', id: jobId });
  }

  /** Nothing of the job is left on the router: removes the entry. */
  async cleaned(jobId: string): Promise<void> {
    await this.#append({ t: 'cleaned', id: jobId });
  }

  async close(): Promise<void> {
    await this.#writing;
    await this.#disk.close();
  }

  #append(record: JournalRecord): Promise<void> {
    return this.#inTurn(async () => {
      const reason = recordProblem(this.#memory, record);
      if (reason !== undefined) throw new AgentError('not_allowed', reason);
      const line = encodeRecord(record);
      // Write everything that was confirmed to a new file.
      if (!this.#isStored || this.#disk.isDoubtful === true) await this.#compact();
      await this.#disk.append(line);
      applyRecord(this.#memory, record);
      this.#appended += line.length;
      if (this.#appended > COMPACT_AFTER_BYTES && record.t === 'cleaned') await this.#compactIfPossible();
    });
  }

  #inTurn(work: () => Promise<void>): Promise<void> {
    const done = this.#writing.then(work);
    this.#writing = done.catch(() => undefined);
    return done;
  }

  async #compact(): Promise<void> {
    await this.#write(this.#memory);
  }

  /** The caller's line is on disk already, so a full disk must not fail the call. */
  async #compactIfPossible(): Promise<void> {
    try {
      await this.#compact();
    } catch {
      // Tried again after as many more bytes; appending continues.
      this.#appended = 0;
    }
  }

  async #write(memory: JournalMemory): Promise<void> {
    await this.#disk.replace(Buffer.concat(compactRecords(memory).map(encodeRecord)));
    this.#isStored = true;
    this.#appended = 0;
  }
}

function replay(records: JournalRecord[]): JournalMemory {
  const memory = emptyMemory();
  for (const [index, record] of records.entries()) {
    const reason = recordProblem(memory, record);
    if (reason !== undefined) throw damaged(index + 1, reason);
    applyRecord(memory, record);
  }
  return memory;
}
