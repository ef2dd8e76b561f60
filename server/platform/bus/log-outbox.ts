/** Messages that wait while the bus is away: some minutes of a busy control plane. */
const MOST_WAITING = 20_000;
const MOST_WAITING_BYTES = 16 * 1024 * 1024;
/** Topics that send at the same time: within a topic the next message waits for the receipt of the last. */
const TOPICS_AT_ONCE = 32;

interface Waiting {
  id: string;
  text: string;
  /** When it was first sent, in monotonic time: it may be in the log already. */
  sentAtMs: number | undefined;
}

export interface LogOutboxDeps {
  /** Unique in all control planes and starts. */
  prefix: string;
  monotonic: () => number;
  /** For how long the log knows the id of a message, so that it takes none twice. */
  idsKnownForMs: number;
  /** Takes the place of messages that were given up. */
  lostText: string;
}

/** Stores a message in the log. @throws when it is not known to be stored */
export type Store = (topic: string, text: string, id: string) => Promise<void>;

/** Messages on their way to the shared log: each once, and in order within its topic. */
export class LogOutbox {
  readonly #deps: LogOutboxDeps;
  readonly #queues = new Map<string, Waiting[]>();
  readonly #sending = new Map<string, Promise<void>>();
  #store: Store | undefined;
  #numbers = 0;
  #count = 0;
  #bytes = 0;
  /** Times that messages were given up, for the metrics. */
  losses = 0;

  constructor(deps: LogOutboxDeps) {
    this.#deps = deps;
  }

  get size(): number {
    return this.#count;
  }

  add(topic: string, text: string): void {
    const isFull = this.#count >= MOST_WAITING || this.#bytes + text.length > MOST_WAITING_BYTES;
    if (isFull) for (const each of this.#queues.keys()) this.#giveUp(each);
    this.#push(topic, isFull ? this.#deps.lostText : text);
    if (isFull) this.#giveUp(topic);
    this.#sendMore();
  }

  /** The log can be reached. @param store used until the next {@link pause}, or until it throws once */
  resume(store: Store): void {
    this.#store = store;
    this.#sendMore();
  }

  pause(): void {
    this.#store = undefined;
  }

  /** Resolves when nothing waits any more, or nothing can be sent. */
  async settled(): Promise<void> {
    while (this.#sending.size > 0) await Promise.race(this.#sending.values());
  }

  #push(topic: string, text: string): void {
    const queue = this.#queues.get(topic) ?? [];
    this.#queues.set(topic, queue);
    queue.push({ id: this.#newId(), text, sentAtMs: undefined });
    this.#count += 1;
    this.#bytes += text.length;
  }

  #newId(): string {
    this.#numbers += 1;
    return `${this.#deps.prefix}.${this.#numbers}`;
  }

  /** All of a topic but the first, which may be under way: readers of the topic are told once. */
  #giveUp(topic: string): void {
    const queue = this.#queues.get(topic)!;
    if (queue.length < 2 || (queue.length === 2 && queue[1]!.text === this.#deps.lostText)) return;
    for (const { text } of queue.splice(1)) this.#forget(text);
    this.losses += 1;
    this.#push(topic, this.#deps.lostText);
  }

  #forget(text: string): void {
    this.#count -= 1;
    this.#bytes -= text.length;
  }

  #sendMore(): void {
    for (const topic of this.#queues.keys()) {
      if (!this.#store || this.#sending.size >= TOPICS_AT_ONCE) return;
      if (this.#sending.has(topic)) continue;
      const sending = this.#send(topic, this.#store).finally(() => {
        this.#sending.delete(topic);
        this.#sendMore();
      });
      this.#sending.set(topic, sending);
    }
  }

  /** Sends what waits of a topic, one after the other. Never rejects. */
  async #send(topic: string, store: Store): Promise<void> {
    const queue = this.#queues.get(topic)!;
    while (this.#store === store) {
      const first = queue[0];
      if (!first) {
        this.#queues.delete(topic);
        return;
      }
      const now = this.#deps.monotonic();
      // Sent again it could be taken twice, and left out it could be missing.
      if (first.sentAtMs !== undefined && now - first.sentAtMs > this.#deps.idsKnownForMs / 2) this.#replace(first, now);
      first.sentAtMs ??= now;
      try {
        await store(topic, first.text, first.id);
      } catch {
        // Whoever gave the function finds out why, and resumes.
        if (this.#store === store) this.#store = undefined;
        return;
      }
      queue.shift();
      this.#forget(first.text);
    }
  }

  #replace(waiting: Waiting, now: number): void {
    const { lostText } = this.#deps;
    this.#bytes += lostText.length - waiting.text.length;
    Object.assign(waiting, { id: this.#newId(), text: lostText, sentAtMs: now });
    this.losses += 1;
  }
}
