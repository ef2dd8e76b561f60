import { Listeners } from '../core/listeners.ts';

/**
 * The control planes that serve one database together, as the last beat has read them: two of them may disagree for some seconds. So a
 * right that follows from it saves work, and is never what keeps data right.
 */
export class Members {
  /** Published when one has come or gone, or begins or ends to drain. */
  readonly changes = new Listeners<readonly string[]>();
  readonly #ownId: string;
  #ids: readonly string[];
  /** Those that take work: the ones that do not drain, or all when all do. */
  #workers: readonly string[];

  constructor(ownId: string, ids: readonly string[]) {
    this.#ownId = ownId;
    this.#ids = sortedWith(ownId, ids);
    this.#workers = this.#ids;
  }

  /** In order, with this one. */
  get ids(): readonly string[] {
    return this.#ids;
  }

  /**
   * To be called with each list that was read.
   * @param draining those of them that give their work to others
   */
  set(ids: readonly string[], draining: readonly string[] = []): void {
    const next = sortedWith(this.#ownId, ids);
    const free = next.filter((id) => !draining.includes(id));
    const workers = free.length > 0 ? free : next;
    if (next.join() === this.#ids.join() && workers.join() === this.#workers.join()) return;
    this.#ids = next;
    this.#workers = workers;
    this.changes.publish(next);
  }

  /**
   * The member that does what one alone shall do, by rendezvous hashing: when one comes or goes, only what it does changes hands.
   * @param name of the work or of the record: `campaigns`, an agent's id
   */
  ownerOf(name: string): string {
    let [owner] = this.#workers;
    let highest = -1;
    for (const id of this.#workers) {
      const weight = weightOf(id, name);
      if (weight <= highest) continue;
      owner = id;
      highest = weight;
    }
    return owner ?? this.#ownId;
  }

  /** Whether a member may get new work. One that gives its work away may not, unless all do. */
  takesWork(id: string): boolean {
    return this.#workers.includes(id);
  }

  isOwn(name: string): boolean {
    return this.ownerOf(name) === this.#ownId;
  }
}

function sortedWith(ownId: string, ids: readonly string[]): string[] {
  return [...new Set([...ids, ownId])].sort();
}

/** FNV-1a with the final mixing of MurmurHash3: a sweep asks for thousands of names, and similar ones must spread. */
function weightOf(id: string, name: string): number {
  const text = `${name} ${id}`;
  let hash = 0x811c9dc5;
  for (let at = 0; at < text.length; at += 1) hash = Math.imul(hash ^ text.charCodeAt(at), 0x01000193);
  hash = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b);
  hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35);
  return (hash ^ (hash >>> 16)) >>> 0;
}
