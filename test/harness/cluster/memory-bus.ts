import { BusCounts } from '../../../server/platform/bus/counts.ts';
import { BusAwayError, NobodyListensError } from '../../../server/platform/bus/errors.ts';
import type { Answerer, Bus, Published } from '../../../server/platform/bus/types.ts';

/** A bus in memory: what `connect` gives are the connections of several control planes. The real one is tested in contract/bus.test.ts. */
export class MemoryBus {
  readonly #connections = new Set<MemoryConnection>();
  /** False: its server is away. */
  isUp = true;

  connect(): Bus {
    const connection = new MemoryConnection(this);
    this.#connections.add(connection);
    return connection;
  }

  answererOf(subject: string): Answerer | undefined {
    return [...this.#connections].map(({ answerers }) => answerers.get(subject)).find((answerer) => answerer !== undefined);
  }

  /** Tells all but the one that says it. */
  tell(from: MemoryConnection, subject: string, value: unknown): void {
    for (const connection of this.#connections) if (connection !== from) connection.ears.get(subject)?.(copy(value));
  }

  leave(connection: MemoryConnection): void {
    this.#connections.delete(connection);
  }
}

class MemoryConnection implements Bus {
  readonly counts = new BusCounts();
  readonly answerers = new Map<string, Answerer>();
  readonly ears = new Map<string, (value: unknown) => void>();
  readonly #bus: MemoryBus;

  constructor(bus: MemoryBus) {
    this.#bus = bus;
  }

  get isConnected(): boolean {
    return this.#bus.isUp;
  }

  async ask(subject: string, value: unknown, options: Parameters<Bus['ask']>[2]): Promise<unknown> {
    if (!this.isConnected) throw new BusAwayError();
    const answerer = this.#bus.answererOf(subject);
    if (!answerer) throw new NobodyListensError();
    const send = (item: unknown): void => options.onItem?.(copy(item), JSON.stringify(item).length);
    const signal = options.signal ?? new AbortController().signal;
    return copy(await answerer(copy(value), { remainingMs: options.timeoutMs, signal, send }));
  }

  answer(subject: string, answerer: Answerer): void {
    this.answerers.set(subject, answerer);
  }

  publish(subject: string, value: unknown): Published {
    if (!this.isConnected) return 'away';
    this.#bus.tell(this, subject, value);
    return 'sent';
  }

  listen(subject: string, hear: (value: unknown) => void): void {
    this.ears.set(subject, hear);
  }

  close(): Promise<void> {
    this.#bus.leave(this);
    return Promise.resolve();
  }
}

function copy(value: unknown): unknown {
  return JSON.parse(JSON.stringify(value ?? null));
}
