export interface Item {
  readonly id: string;
  /** Values as RouterOS prints them, by property name; absent means unset. */
  readonly values: Map<string, string>;
  /** Made by the router itself, not by a person; not saved in backups. */
  readonly dynamic: boolean;
}

export type ChangeKind = 'add' | 'change' | 'remove';

export interface Change {
  readonly kind: ChangeKind;
  readonly item: Item;
}

export type Watcher = (change: Change) => void;

export interface SavedTable {
  next: number;
  items: { id: string; values: [string, string][] }[];
}

/** The items of one menu, in order. An id is never given out twice. */
export class ItemTable {
  #items: Item[] = [];
  #byId = new Map<string, Item>();
  #next: number;
  readonly #watchers = new Set<Watcher>();
  /** Oldest items make room beyond this many (the log's memory buffer). */
  readonly #limit: number;

  constructor(firstId = 1, limit = Infinity) {
    this.#next = firstId;
    this.#limit = limit;
  }

  get items(): readonly Item[] {
    return this.#items;
  }

  add(values: Iterable<readonly [string, string]>, options: { before?: Item | undefined; dynamic?: boolean } = {}): Item {
    const id = `*${(this.#next++).toString(16).toUpperCase()}`;
    const item: Item = { id, values: new Map(values), dynamic: options.dynamic ?? false };
    const at = options.before ? this.#items.indexOf(options.before) : this.#items.length;
    this.#items.splice(at, 0, item);
    this.#byId.set(id, item);
    this.#tell('add', item);
    if (this.#items.length > this.#limit && this.#items[0]) this.remove(this.#items[0]);
    return item;
  }

  /** Sets or, with undefined, unsets values, and notifies the watchers once. */
  update(item: Item, values: Iterable<readonly [string, string | undefined]>): void {
    for (const [name, value] of values) {
      if (value === undefined) item.values.delete(name);
      else item.values.set(name, value);
    }
    this.#tell('change', item);
  }

  remove(item: Item): void {
    const at = this.#items[0] === item ? 0 : this.#items.indexOf(item);
    if (at < 0) return;
    if (at === 0) this.#items.shift();
    else this.#items.splice(at, 1);
    this.#byId.delete(item.id);
    this.#tell('remove', item);
  }

  clear(): void {
    for (const item of [...this.#items].reverse()) this.remove(item);
  }

  move(item: Item, before: Item | undefined): void {
    this.#items = this.#items.filter((other) => other !== item);
    const at = before && before !== item ? this.#items.indexOf(before) : this.#items.length;
    this.#items.splice(at, 0, item);
    this.#tell('change', item);
  }

  byId(id: string): Item | undefined {
    return this.#byId.get(id);
  }

  find(property: string, value: string): Item | undefined {
    return this.#items.find((item) => item.values.get(property) === value);
  }

  /** Calls the listener for every change until the returned function is called. */
  watch(watcher: Watcher): () => void {
    this.#watchers.add(watcher);
    return () => this.#watchers.delete(watcher);
  }

  save(): SavedTable {
    const lasting = this.#items.filter((item) => !item.dynamic);
    return { next: this.#next, items: lasting.map((item) => ({ id: item.id, values: [...item.values] })) };
  }

  /** Replaces everything by a saved state; watchers are not notified, because a reboot follows. */
  restore(saved: SavedTable): void {
    this.#items = saved.items.map((item) => ({ id: item.id, values: new Map(item.values), dynamic: false }));
    this.#byId = new Map(this.#items.map((item) => [item.id, item]));
    this.#next = Math.max(this.#next, saved.next);
  }

  #tell(kind: ChangeKind, item: Item): void {
    for (const watcher of this.#watchers) watcher({ kind, item });
  }
}
