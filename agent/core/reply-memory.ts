/**
 * For everything that routers have said and that is not handed on yet, all routers of this agent together. Four of the largest
 * answers at once; an agent has to get by with 200 MB on a small board.
 */
const ROOM_BYTES = 64 * 1024 * 1024;

/** So much everybody may hold, whoever has filled the room. */
const ALWAYS_BYTES = 1024 * 1024;

/** Memory that several share: who holds much of it gets no more when it is full. */
export class ReplyMemory {
  readonly #room: number;
  readonly #always: number;
  #used = 0;

  constructor(room = ROOM_BYTES, always = ALWAYS_BYTES) {
    this.#room = room;
    this.#always = always;
  }

  /** Something that grows: an answer, a sentence. */
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
  /** False when there is no room for so many bytes more; nothing has changed then. */
  grow(bytes: number): boolean;
  /** Gives everything back; it may grow again. */
  release(): void;
}

/** One for the process, because all routers' replies are kept in the memory of one process. */
export const replyMemory = new ReplyMemory();
