import { once } from 'node:events';
import net, { type AddressInfo, type Socket } from 'node:net';

/** What may happen to a byte stream at one place in it. */
export const LINE_FAULTS = ['cut', 'reset', 'stall', 'flip', 'noise', 'insert', 'drop', 'repeat', 'delay'] as const;
export type LineFault = (typeof LINE_FAULTS)[number];

export interface Disturbance {
  fault: LineFault;
  /** `down` is what the router says. */
  direction: 'up' | 'down';
  /** The byte of that direction, counted from 0, at which it happens. */
  offset: number;
  /** Makes the noise. */
  seed: number;
}

/** So many bytes are changed, put in, left out or said twice. */
const SPAN_BYTES = 16;
const DELAY_MS = 5;

/** Numbers that are the same for the same seed (mulberry32). */
function randomBytes(seed: number, length: number): Buffer {
  let state = seed >>> 0;
  return Buffer.from(
    Array.from({ length }, () => {
      state = (state + 0x6d2b79f5) >>> 0;
      let mixed = Math.imul(state ^ (state >>> 15), state | 1);
      mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
      return (mixed ^ (mixed >>> 14)) & 0xff;
    }),
  );
}

/** One direction of the line: hands on what it gets, disturbed at its place, and counts. */
class Direction {
  bytes = 0;
  readonly #from: Socket;
  readonly #to: Socket;
  readonly #plan: Disturbance | undefined;
  #stalled = false;

  constructor(from: Socket, to: Socket, plan: Disturbance | undefined) {
    this.#from = from;
    this.#to = to;
    this.#plan = plan;
    from.on('data', (chunk: Buffer) => this.#carry(chunk));
    from.on('end', () => this.#stalled || to.end());
    from.on('close', () => to.destroy());
  }

  #carry(chunk: Buffer): void {
    const start = this.bytes;
    this.bytes += chunk.length;
    if (this.#stalled) return;
    const plan = this.#plan;
    if (!plan || plan.offset < start || plan.offset >= this.bytes) {
      this.#to.write(chunk);
      return;
    }
    const at = plan.offset - start;
    this.#disturb(plan, chunk.subarray(0, at), chunk.subarray(at));
  }

  #disturb({ fault, seed }: Disturbance, before: Buffer, after: Buffer): void {
    const to = this.#to;
    if (before.length > 0) to.write(before);
    if (fault === 'cut') to.end();
    else if (fault === 'reset') to.resetAndDestroy();
    else if (fault === 'stall') this.#stalled = true;
    else if (fault === 'delay') this.#later(after);
    else to.write(changed(fault, seed, after));
  }

  #later(bytes: Buffer): void {
    this.#from.pause();
    setTimeout(() => {
      if (!this.#to.destroyed) this.#to.write(bytes);
      this.#from.resume();
    }, DELAY_MS);
  }
}

/** What comes out in the place of `bytes`. */
export function changed(fault: 'flip' | 'noise' | 'insert' | 'drop' | 'repeat', seed: number, bytes: Buffer): Buffer {
  const head = bytes.subarray(0, SPAN_BYTES);
  const rest = bytes.subarray(SPAN_BYTES);
  if (fault === 'flip') return Buffer.concat([Buffer.of(bytes[0]! ^ (1 << (seed % 8))), bytes.subarray(1)]);
  if (fault === 'noise') return Buffer.concat([randomBytes(seed, head.length), rest]);
  if (fault === 'insert') return Buffer.concat([randomBytes(seed, SPAN_BYTES), bytes]);
  if (fault === 'drop') return rest;
  return Buffer.concat([head, bytes]);
}

/** A line to one router that carries connections, the first of them disturbed. */
export class FaultyLine {
  readonly #server: net.Server;
  readonly #sockets = new Set<Socket>();
  #plan: Disturbance | undefined;
  #first: { up: Direction; down: Direction } | undefined;

  private constructor(targetPort: number, plan: Disturbance | undefined) {
    this.#plan = plan;
    this.#server = net.createServer({ allowHalfOpen: true, noDelay: true }, (client) => this.#pair(client, targetPort));
  }

  static async start(targetPort: number, plan?: Disturbance): Promise<FaultyLine> {
    const line = new FaultyLine(targetPort, plan);
    line.#server.listen(0, '127.0.0.1');
    await once(line.#server, 'listening');
    return line;
  }

  get port(): number {
    return (this.#server.address() as AddressInfo).port;
  }

  /** Bytes that the first connection said each way. */
  get carried(): { up: number; down: number } {
    return { up: this.#first?.up.bytes ?? 0, down: this.#first?.down.bytes ?? 0 };
  }

  async close(): Promise<void> {
    for (const socket of this.#sockets) socket.destroy();
    await new Promise((resolve) => this.#server.close(resolve));
  }

  #pair(client: Socket, targetPort: number): void {
    const plan = this.#plan;
    this.#plan = undefined;
    const router = net.connect({ port: targetPort, host: '127.0.0.1', noDelay: true, allowHalfOpen: true });
    for (const socket of [client, router]) {
      this.#sockets.add(socket);
      socket.on('error', () => undefined).on('close', () => this.#sockets.delete(socket));
    }
    const up = new Direction(client, router, plan?.direction === 'up' ? plan : undefined);
    const down = new Direction(router, client, plan?.direction === 'down' ? plan : undefined);
    this.#first ??= { up, down };
  }
}
