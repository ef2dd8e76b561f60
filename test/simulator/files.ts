import { Trap } from './menu/types.ts';

export interface StoredFile {
  readonly id: string;
  readonly name: string;
  contents: Buffer;
  /** Wall time of the router, milliseconds. */
  createdAt: number;
  modifiedAt: number;
  /** Time of the source clock at the last write, for the flash write-back lag. */
  writtenAt: number;
  directory: boolean;
}

export interface FileClock {
  wallMs(): number;
  now(): number;
}

/** Enough for every test; a real board's flash is smaller still. */
const CAPACITY_BYTES = 256 * 1024 * 1024;

/** The router's flat file store: names without a leading slash, folders only as part of a name. */
export class FileStore {
  readonly #files = new Map<string, StoredFile>();
  readonly #clock: FileClock;
  readonly #isFull: () => boolean;
  #next = 1;

  constructor(clock: FileClock, isFull: () => boolean) {
    this.#clock = clock;
    this.#isFull = isFull;
  }

  /** All files, by name. */
  list(): StoredFile[] {
    return [...this.#files.values()].sort((a, b) => (a.name < b.name ? -1 : 1));
  }

  get(name: string): StoredFile | undefined {
    return this.#files.get(normalize(name));
  }

  read(name: string): Buffer | undefined {
    return this.get(name)?.contents;
  }

  /** Creates or replaces a file. Throws {@link Trap} when the disk is full. */
  write(name: string, contents: Buffer | string): StoredFile {
    const key = normalize(name);
    const bytes = Buffer.from(contents);
    if (this.#isFull() || this.usedBytes() + bytes.length > CAPACITY_BYTES) throw new Trap('failure: not enough space on disk');
    const file = this.#entry(key, false);
    file.contents = bytes;
    file.modifiedAt = this.#clock.wallMs();
    file.writtenAt = this.#clock.now();
    return file;
  }

  makeDirectory(name: string): StoredFile {
    return this.#entry(normalize(name), true);
  }

  remove(name: string): boolean {
    return this.#files.delete(normalize(name));
  }

  rename(from: string, to: string): boolean {
    const file = this.get(from);
    if (!file) return false;
    this.#files.delete(file.name);
    this.#files.set(normalize(to), { ...file, name: normalize(to) });
    return true;
  }

  usedBytes(): number {
    let total = 0;
    for (const file of this.#files.values()) total += file.contents.length;
    return total;
  }

  /** Boards with a flash folder keep nothing else over a reboot. */
  keepOnlyFlash(): void {
    for (const name of this.#files.keys()) {
      if (name !== 'flash' && !name.startsWith('flash/')) this.#files.delete(name);
    }
  }

  #entry(name: string, directory: boolean): StoredFile {
    const known = this.#files.get(name);
    if (known) return known;
    const wallMs = this.#clock.wallMs();
    const id = `*${(this.#next++).toString(16).toUpperCase()}`;
    const file = { id, name, contents: Buffer.alloc(0), createdAt: wallMs, modifiedAt: wallMs, writtenAt: 0, directory };
    this.#files.set(name, file);
    return file;
  }
}

function normalize(name: string): string {
  return name.replace(/^\/+/, '').replace(/\/+$/, '');
}
