import type { Clock, Timer } from '../../../agent/core/clock.ts';
import type { Storage } from '../../../server/platform/storage/db.ts';
import type { JournalDisk } from '../../../agent/jobs/journal/disk.ts';
import type { MemoryDisk } from './memory-disk.ts';
import type { Chance } from './random.ts';
import { turns } from './random.ts';

/** A process that can be killed: none of its work continues after that. */
export class Mortal {
  dead = false;

  /** Continues only in a living process. */
  async alive(): Promise<void> {
    if (this.dead) await new Promise<never>(() => undefined);
  }
}

/** Timers of a dead process never fire. */
export class MortalClock implements Clock {
  readonly #clock: Clock;
  readonly #owner: Mortal;

  constructor(clock: Clock, owner: Mortal) {
    this.#clock = clock;
    this.#owner = owner;
  }

  now(): number {
    return this.#clock.now();
  }

  monotonic(): number {
    return this.#clock.monotonic();
  }

  sinceBoot(): number {
    return this.#clock.sinceBoot();
  }

  setTimeout(callback: () => void, ms: number): Timer {
    return this.#clock.setTimeout(() => {
      if (!this.#owner.dead) callback();
    }, ms);
  }
}

/** The database outlives the process: a submitted write is committed, even if the process no longer awaits it. */
export function mortalStorage(storage: Storage, owner: Mortal): Storage {
  return {
    ...storage,
    db: storage.db,
    engine: storage.engine,
    close: () => Promise.resolve(),
    writes: {
      write: async (work) => {
        await owner.alive();
        try {
          return await storage.writes.write(work);
        } finally {
          await owner.alive();
        }
      },
    },
  };
}

/** The agent's disk as its process sees it: the power may fail before, within and after every write. */
export class MortalDisk implements JournalDisk {
  readonly #disk: MemoryDisk;
  readonly #owner: Mortal;
  #writing: Buffer | undefined;

  constructor(disk: MemoryDisk, owner: Mortal) {
    this.#disk = disk;
    this.#owner = owner;
  }

  /** Half of the line that is just being written may be on the disk already. */
  tear(chance: Chance): void {
    if (!this.#writing || chance.happens(0.5)) return;
    const torn = this.#writing.subarray(0, chance.int(0, this.#writing.length - 1));
    this.#disk.content = Buffer.concat([this.#disk.content ?? Buffer.alloc(0), torn]);
  }

  async read(): Promise<Buffer | undefined> {
    return this.#disk.read();
  }

  async truncate(bytes: number): Promise<void> {
    await this.#owner.alive();
    await this.#disk.truncate(bytes);
  }

  async append(line: Buffer): Promise<void> {
    this.#writing = line;
    await turns(1);
    await this.#owner.alive();
    this.#writing = undefined;
    await this.#disk.append(line);
    await turns(1);
    await this.#owner.alive();
  }

  async replace(content: Buffer): Promise<void> {
    await turns(1);
    await this.#owner.alive();
    await this.#disk.replace(content);
  }

  async close(): Promise<void> {
    await this.#owner.alive();
  }
}
