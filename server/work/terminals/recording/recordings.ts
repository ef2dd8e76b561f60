import type { Clock } from '../../../platform/core/clock.ts';
import { notFound } from '../../../platform/core/errors.ts';
import type { Storage } from '../../../platform/storage/db.ts';
import type { Secrets } from '../../../platform/storage/secrets.ts';
import { selectTerminal } from '../store.ts';
import type { TerminalKey } from '../store.ts';
import type { RecordedPart } from './recorder.ts';
import { sealPart, unsealPart } from './seal.ts';
import { deleteOldRecordings, insertPart, selectPart } from './store.ts';

interface RecordingsDeps {
  storage: Storage;
  secrets: Pick<Secrets, 'encrypt' | 'decrypt'>;
  clock: Clock;
  keepRecordingsMs: number;
}

/** Recordings deleted in one transaction: up to 16 MB each. */
const DELETED_AT_ONCE = 5;

/** Recordings of terminals: stored encrypted in parts, read back as one file, deleted when they are old enough. */
export class Recordings {
  readonly #deps: RecordingsDeps;

  constructor(deps: RecordingsDeps) {
    this.#deps = deps;
  }

  /** @throws a storage error */
  async store(key: TerminalKey, { number, text, ...counts }: RecordedPart): Promise<void> {
    const { storage, secrets, clock } = this.#deps;
    const content = await sealPart(secrets, key.id, number, text);
    await storage.writes.write((tx) => insertPart(tx, key, { number, content, ...counts, now: clock.now() }));
  }

  /**
   * The parts of a recording in order; only one of them is in memory.
   * @throws AppError `not_found` when there is no such terminal, or its recording was deleted
   */
  async read(key: TerminalKey): Promise<AsyncIterable<string>> {
    const record = await selectTerminal(this.#deps.storage.db, key);
    if (!record) throw notFound('terminal');
    if (record.recording_chunks === 0 || record.recording_deleted_at !== null) throw notFound('recording');
    return this.#parts(key, record.recording_chunks);
  }

  async *#parts(key: TerminalKey, chunks: number): AsyncGenerator<string> {
    const { storage, secrets } = this.#deps;
    for (let number = 0; number < chunks; number += 1) {
      const sealed = await selectPart(storage.db, key, number);
      if (sealed === undefined) throw notFound('recording');
      yield unsealPart(secrets, key.id, number, sealed);
    }
  }

  /** Deletes recordings that are older than they are kept. */
  async sweep(): Promise<void> {
    const { storage, clock, keepRecordingsMs } = this.#deps;
    const before = clock.now() - keepRecordingsMs;
    while ((await storage.writes.write((tx) => deleteOldRecordings(tx, before, clock.now(), DELETED_AT_ONCE))) === DELETED_AT_ONCE);
  }
}
