/**
 * Memory for data of all routers that is not passed on yet: four of the largest answers. An agent must run with 200 MB on a small
 * board.
 */
const ROOM_BYTES = 64 * 1024 * 1024;

/** Bytes that every claim may hold even if the memory is full. */
const ALWAYS_BYTES = 1024 * 1024;

/** Shared memory budget: when it is full, only small claims may grow. */
export class ReplyMemory {
  readonly #room: number;
  readonly #always: number;
  #used = 0;

  constructor(room = ROOM_BYTES, always = ALWAYS_BYTES) {
    this.#room = room;
    this.#always = always;
  }

  /** A new claim, for something that grows: an answer, a sentence. */
  claim(): Claim {
    let held = 0;
    return {
      grow: (bytes) => {
        if (this.#used + bytes > this.#room && held + bytes > this.#always) return false;
        held += bytes;
        this.#used += bytes;
        return true;
      },
      release: () => {
        this.#used -= held;
        held = 0;
      },
    };
  }
}

export interface Claim {
  /** @returns false when there is no room for `bytes` more; nothing has changed then */
  grow(bytes: number): boolean;
  /** Gives everything back. The claim may grow again. */
  release(): void;
}

/** One for the process, because all routers' replies are kept in the memory of one process. */
export const replyMemory = new ReplyMemory();
