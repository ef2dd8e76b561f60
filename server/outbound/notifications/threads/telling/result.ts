import type { Revision, ThreadRow } from '../types.ts';
import type { Told } from './told.ts';

/** Threads whose parent is gone. `open_again`: what is still open is told on its own; `as_told`: it counts as told. */
export interface Release {
  parentId: string;
  how: 'open_again' | 'as_told';
}

/** What a group's pass has to store. A thread that is put twice is stored as it was put last. */
export class GroupResult {
  readonly #added = new Set<string>();
  readonly #threads = new Map<string, ThreadRow>();
  readonly revisions: Revision[] = [];
  readonly released: Release[] = [];

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

  /** As it is now. */
  of(thread: ThreadRow): ThreadRow {
    return this.#threads.get(thread.id) ?? thread;
  }
}
