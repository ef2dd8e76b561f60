import { once } from 'node:events';
import net from 'node:net';
import type { AddressInfo } from 'node:net';
import { changed } from '../handshakes/faulty-line.ts';
import { FrameSplitter } from './websocket-frames.ts';

export type Direction = 'to-server' | 'to-agent';

/** When a message is seen, and whether it is still delivered. */
export interface Step {
  direction: Direction;
  /** Text inside the message. Loopback tunnels are not masked. */
  text: string;
  /** `before`: it is swallowed with everything after it on that connection; `after`: it is passed on first. */
  when: 'before' | 'after';
}

/** What happens in mid-stream, to one connection. */
export const CORRUPTIONS = ['flip', 'noise', 'insert', 'drop', 'repeat', 'cut', 'reset', 'stall'] as const;

export interface Corruption {
  fault: (typeof CORRUPTIONS)[number];
  direction: Direction;
  /** So many bytes of that direction pass before it happens. */
  afterBytes: number;
  /** Makes the noise. */
  seed: number;
}

interface Pair {
  sockets: [net.Socket, net.Socket];
  /** Both connections stay open and carry nothing. */
  isStalled: boolean;
}

/** A Unix socket knows no reset. */
function reset(socket: net.Socket): void {
  if (socket.remoteAddress === undefined) socket.destroy();
  else socket.resetAndDestroy();
}

/** A TCP connection that can be cut, become half-open, repeat messages of a tunnel, and report when one passes. */
export class Line {
  readonly #server: net.Server;
  readonly #pairs = new Set<Pair>();
  /** A port on this machine, or the path of a Unix socket. */
  readonly #target: number | string;
  /** Asked for every message about a job on a tunnel: is it to come twice? Undefined for a line that is no tunnel. */
  readonly #repeats: (() => boolean) | undefined;
  #step: { step: Step; seen: PromiseWithResolvers<void> } | undefined;
  #corruption: { corruption: Corruption; left: number; happened: PromiseWithResolvers<void> } | undefined;
  #isBlocked = false;
  repeated = 0;

  private constructor(target: number | string, repeats: (() => boolean) | undefined) {
    this.#target = target;
    this.#repeats = repeats;
    this.#server = net.createServer((client) => this.#pair(client));
  }

  static async start(target: number | string, repeats?: () => boolean): Promise<Line> {
    const line = new Line(target, repeats);
    line.#server.listen(0, '127.0.0.1');
    await once(line.#server, 'listening');
    return line;
  }

  get port(): number {
    return (this.#server.address() as AddressInfo).port;
  }

  /** Resolves when the message has been seen. One at a time: a new one takes the place of the last. */
  watch(step: Step): Promise<void> {
    const seen = Promise.withResolvers<void>();
    this.#step = { step, seen };
    return seen.promise;
  }

  /** Resolves when it has happened. One at a time: a new one takes the place of the last. Not on a tunnel's line. */
  corrupt(corruption: Corruption): Promise<void> {
    const happened = Promise.withResolvers<void>();
    this.#corruption = { corruption, left: corruption.afterBytes, happened };
    return happened.promise;
  }

  /** Cancels pending faults. */
  calm(): void {
    this.#corruption = undefined;
  }

  /** Every present connection goes half-open; later ones are carried. */
  stall(): void {
    for (const pair of this.#pairs) pair.isStalled = true;
  }

  /** From now on connections carry nothing, new ones too: no end is told. */
  block(): void {
    this.#isBlocked = true;
    this.stall();
  }

  /** What was blocked ends; new connections are carried. */
  unblock(): void {
    this.#isBlocked = false;
    this.cut();
  }

  /** Resets every connection. */
  cut(): void {
    for (const { sockets } of this.#pairs) for (const socket of sockets) reset(socket);
  }

  async close(): Promise<void> {
    this.#server.close();
    this.cut();
    await once(this.#server, 'close');
  }

  #pair(client: net.Socket): void {
    const target = this.#target;
    const server = net.connect(typeof target === 'string' ? { path: target } : { port: target, host: '127.0.0.1', noDelay: true });
    client.setNoDelay(true);
    const pair: Pair = { sockets: [client, server], isStalled: this.#isBlocked };
    this.#pairs.add(pair);
    for (const [socket, other] of [
      [client, server],
      [server, client],
    ] as const) {
      socket.on('error', () => undefined);
      socket.on('close', () => {
        if (pair.isStalled) return;
        this.#pairs.delete(pair);
        other.destroy();
      });
    }
    this.#carry(pair, client, server, 'to-server');
    this.#carry(pair, server, client, 'to-agent');
  }

  #carry(pair: Pair, from: net.Socket, to: net.Socket, direction: Direction): void {
    const splitter = this.#repeats ? new FrameSplitter() : undefined;
    from.on('data', (chunk: Buffer) => {
      if (pair.isStalled) return;
      if (!splitter) return this.#passBytes(pair, to, chunk, direction);
      for (const { bytes, isFrame } of splitter.push(chunk)) {
        if (!pair.isStalled) this.#pass(pair, to, isFrame ? bytes : undefined, bytes, direction);
      }
    });
  }

  #passBytes(pair: Pair, to: net.Socket, chunk: Buffer, direction: Direction): void {
    const active = this.#corruption;
    if (active?.corruption.direction !== direction || active.left >= chunk.length) {
      if (active?.corruption.direction === direction) active.left -= chunk.length;
      to.write(chunk);
      return;
    }
    this.#corruption = undefined;
    if (active.left > 0) to.write(chunk.subarray(0, active.left));
    disturb(pair, to, chunk.subarray(active.left), active.corruption);
    active.happened.resolve();
  }

  #pass(pair: Pair, to: net.Socket, frame: Buffer | undefined, bytes: Buffer, direction: Direction): void {
    const active = this.#step;
    const isStep = frame !== undefined && active?.step.direction === direction && frame.includes(active.step.text);
    if (isStep) {
      this.#step = undefined;
      pair.isStalled = active.step.when === 'before';
      active.seen.resolve();
      if (pair.isStalled) return;
    }
    to.write(bytes);
    if (frame?.includes('"type":"job.') !== true || this.#repeats?.() !== true) return;
    to.write(bytes);
    this.repeated += 1;
  }
}

function disturb(pair: Pair, to: net.Socket, rest: Buffer, { fault, seed }: Corruption): void {
  if (fault === 'stall') pair.isStalled = true;
  else if (fault === 'cut') to.end();
  else if (fault === 'reset') to.resetAndDestroy();
  else to.write(changed(fault, seed, rest));
}
