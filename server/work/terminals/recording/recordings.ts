import type { Clock } from '../../../platform/core/clock.ts';
import { notFound } from '../../../platform/core/errors.ts';
import type { Storage } from '../../../platform/storage/db.ts';
import type { Secrets } from '../../../platform/storage/secrets.ts';
import type { TerminalCluster } from '../cluster/types.ts';
import { selectTerminal } from '../store.ts';
import type { TerminalKey } from '../store.ts';
import type { RecordedPart } from './recorder.ts';
import { sealPart, unsealPart } from './seal.ts';
import { insertPart, markDeleted, removeParts, selectOldRecordings, selectPart } from './store.ts';

interface RecordingsDeps {
  storage: Storage;
  secrets: Pick<Secrets, 'encrypt' | 'decrypt'>;
  clock: Clock;
  keepRecordingsMs: number;
  cluster?: Pick<TerminalCluster, 'nodeId'> | null;
}

/** Recordings that are found at a time. Their parts are deleted in small batches: up to 16 MB each. */
const FOUND_AT_ONCE = 100;

/** Recordings of terminals: stored encrypted in parts, read back as one file, deleted when they are old enough. */
export class Recordings {
  readonly #deps: RecordingsDeps;

  constructor(deps: RecordingsDeps) {
    this.#deps = deps;
  }

  /** @throws a storage error */
  async store(key: TerminalKey, { number, text, ...counts }: RecordedPart): Promise<void> {
    const { storage, secrets, clock, cluster } = this.#deps;
    const content = await sealPart(secrets, key.id, number, text);
    await storage.writes.write((tx) => insertPart(tx, key, { number, content, ...counts, now: clock.now(), home: cluster?.nodeId }));
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
  async sweep(signal?: AbortSignal): Promise<void> {
    const { storage, clock, keepRecordingsMs } = this.#deps;
    const before = clock.now() - keepRecordingsMs;
    for (let count = FOUND_AT_ONCE; count === FOUND_AT_ONCE;) {
      const ids = await selectOldRecordings(storage.db, before, FOUND_AT_ONCE);
      for (const id of ids) {
        await removeParts(storage, id, signal);
        if (signal?.aborted) return;
        await storage.writes.write((tx) => markDeleted(tx, id, clock.now()));
      }
      count = ids.length;
    }
  }
}
