import type { Watching } from './live-messages.ts';

/** Forwards of one stream: the interface takes no more. */
const MOST = 20;
/** A tab tells its wishes every 10 s; after this many looks without a word it has closed. */
const QUIET_LOOKS = 3;

interface Tab {
  forwards: readonly string[];
  quietLooks: number;
}

/** Whose traffic is shown: in this tab, and in the others as far as they have told. */
export class Watched {
  readonly #tab = crypto.randomUUID();
  readonly #own = new Map<string, number>();
  readonly #others = new Map<string, Tab>();

  /** What all tabs want together. */
  get forwards(): readonly string[] {
    return [...new Set([...this.#own.keys(), ...[...this.#others.values()].flatMap(({ forwards }) => forwards)])].slice(0, MOST).sort();
  }

  /** For the other tabs. */
  get wish(): Watching {
    return { kind: 'watching', tab: this.#tab, forwards: [...this.#own.keys()] };
  }

  /** Two parts of a page may show the same forward. */
  add(forwardId: string): void {
    this.#own.set(forwardId, (this.#own.get(forwardId) ?? 0) + 1);
  }

  remove(forwardId: string): void {
    const left = (this.#own.get(forwardId) ?? 1) - 1;
    if (left === 0) this.#own.delete(forwardId);
    else this.#own.set(forwardId, left);
  }

  hear({ tab, forwards }: Watching): void {
    if (forwards.length === 0) this.#others.delete(tab);
    else this.#others.set(tab, { forwards, quietLooks: 0 });
  }

  /** Forgets tabs that have closed. */
  look(): void {
    for (const [id, tab] of this.#others) {
      tab.quietLooks += 1;
      if (tab.quietLooks > QUIET_LOOKS) this.#others.delete(id);
    }
  }
}
