import { once } from 'node:events';
import net from 'node:net';
import type { AddressInfo } from 'node:net';

export interface LineOptions {
  /** Target of each listening port. */
  targets: number[];
  /** Round-trip time. */
  roundTripMs: number;
  bytesPerSecond: number;
}

/** Queue of a router on the path, beyond the bytes on the wire. */
const QUEUE_BYTES = 1024 * 1024;

/**
 * A long-distance link in user space: bytes arrive half a round trip after they were sent, at most at the given rate, and at
 * most as many are in flight as the wire and a router's queue hold. All connections share the rate.
 * @returns the ports in order
 */
export async function startLine({ targets, roundTripMs, bytesPerSecond }: LineOptions): Promise<number[]> {
  const wire = { delayMs: roundTripMs / 2, bytesPerMs: bytesPerSecond / 1000 };
  const there = new Rate(wire.bytesPerMs);
  const back = new Rate(wire.bytesPerMs);
  return Promise.all(
    targets.map(async (target) => {
      const server = net.createServer({ allowHalfOpen: true, noDelay: true }, (near) => {
        const far = net.connect({ port: target, host: '127.0.0.1', allowHalfOpen: true, noDelay: true });
        carry(near, far, there, wire);
        carry(far, near, back, wire);
      });
      server.listen(0, '127.0.0.1');
      await once(server, 'listening');
      return (server.address() as AddressInfo).port;
    }),
  );
}

interface Wire {
  delayMs: number;
  bytesPerMs: number;
}

/** Waits until the link has room for this many bytes. */
class Rate {
  readonly #bytesPerMs: number;
  #freeAt = 0;

  constructor(bytesPerMs: number) {
    this.#bytesPerMs = bytesPerMs;
  }

  /** @returns the moment at which the last of them has been sent */
  take(bytes: number): number {
    this.#freeAt = Math.max(this.#freeAt, performance.now()) + bytes / this.#bytesPerMs;
    return this.#freeAt;
  }
}

/** One direction of one connection. */
function carry(from: net.Socket, to: net.Socket, rate: Rate, { delayMs, bytesPerMs }: Wire): void {
  const room = bytesPerMs * delayMs + QUEUE_BYTES;
  const underway: { chunk: Buffer | undefined; dueAt: number }[] = [];
  let bytes = 0;
  let timer: NodeJS.Timeout | undefined;
  const deliver = (): void => {
    timer = undefined;
    while (underway.length > 0 && underway[0]!.dueAt <= performance.now() && !to.writableNeedDrain) {
      const { chunk } = underway.shift()!;
      if (!chunk) to.end();
      else {
        bytes -= chunk.length;
        to.write(chunk);
      }
    }
    if (bytes < room) from.resume();
    const next = underway[0];
    if (next && !to.writableNeedDrain) timer = setTimeout(deliver, Math.max(1, next.dueAt - performance.now()));
  };
  const send = (chunk: Buffer | undefined): void => {
    bytes += chunk?.length ?? 0;
    underway.push({ chunk, dueAt: rate.take(chunk?.length ?? 0) + delayMs });
    if (bytes >= room) from.pause();
    timer ??= setTimeout(deliver, delayMs);
  };
  from.on('data', send);
  from.on('end', () => send(undefined));
  from.on('error', () => to.destroy());
  from.on('close', () => {
    if (from.errored) to.destroy();
  });
  to.on('drain', () => {
    if (timer === undefined) deliver();
  });
}
