import type { Item, ItemTable } from './menu/table.ts';
import type { RouterState } from './state.ts';

/** Takes entries of a table away when their time (`.expires`, by the time source) has come. */
export class Expiries {
  readonly #router: RouterState;
  readonly #table: ItemTable;
  readonly #timers = new Map<string, () => void>();
  readonly #unwatch: () => void;

  constructor(router: RouterState, table: ItemTable) {
    this.#router = router;
    this.#table = table;
    this.#unwatch = table.watch(({ kind, item }) => this.#plan(item, kind === 'remove'));
    for (const item of table.items) this.#plan(item, false);
  }

  stop(): void {
    this.#unwatch();
    for (const cancel of this.#timers.values()) cancel();
    this.#timers.clear();
  }

  #plan(item: Item, isGone: boolean): void {
    this.#timers.get(item.id)?.();
    this.#timers.delete(item.id);
    const expires = item.values.get('.expires');
    if (isGone || expires === undefined) return;
    const wait = Math.max(0, Number(expires) - this.#router.time.now());
    this.#timers.set(
      item.id,
      this.#router.time.after(wait, () => this.#table.remove(item)),
    );
  }
}
