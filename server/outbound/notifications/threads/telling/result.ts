import type { Revision, ThreadRow } from '../types.ts';
import type { Told } from './told.ts';

/** What a group's pass has to store. A thread that is put twice is stored as it was put last. */
export class GroupResult {
  readonly #added = new Set<string>();
  readonly #threads = new Map<string, ThreadRow>();
  readonly revisions: Revision[] = [];
  /** Parents that are over, as they were while they were open; what is still open in them counts as told. */
  readonly released: ThreadRow[] = [];

  get added(): ThreadRow[] {
    return [...this.#threads.values()].filter(({ id }) => this.#added.has(id));
  }

  get changed(): ThreadRow[] {
    return [...this.#threads.values()].filter(({ id }) => !this.#added.has(id));
  }

  add(thread: ThreadRow): void {
    this.#added.add(thread.id);
    this.put(thread);
  }

  put(thread: ThreadRow): void {
    this.#threads.set(thread.id, thread);
  }

  tell({ thread, revisions }: Told): void {
    this.put(thread);
    this.revisions.push(...revisions);
  }

  /** Parents that begin anew: what was in them before is forgotten. */
  readonly reopened: string[] = [];

  /** What has no end, and was told: the next of the kind takes their place. */
  readonly replaced: string[] = [];

  has({ id }: ThreadRow): boolean {
    return this.#threads.has(id);
  }

  /** As it is now. */
  of(thread: ThreadRow): ThreadRow {
    return this.#threads.get(thread.id) ?? thread;
  }
}
