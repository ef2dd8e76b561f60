import { once } from 'node:events';
import net from 'node:net';
import type { AddressInfo } from 'node:net';
import { FrameSplitter } from './websocket-frames.ts';

export type Direction = 'to-server' | 'to-agent';

/** Where a message is seen, and whether it still gets through. */
export interface Step {
  direction: Direction;
  /** Text inside the message. Loopback tunnels are not masked. */
  text: string;
  /** `before`: it is swallowed with everything after it on that connection; `after`: it is passed on first. */
  when: 'before' | 'after';
}

interface Pair {
  sockets: [net.Socket, net.Socket];
  /** Both connections stay open, and nothing is carried any more. */
  isStalled: boolean;
}

/** A TCP line that can be cut, go half-open, repeat the messages of a tunnel, and tell when one passes. */
export class Line {
  readonly #server: net.Server;
  readonly #pairs = new Set<Pair>();
  readonly #target: number;
  /** Asked for every message about a job on a tunnel: is it to come twice? Undefined for a line that is no tunnel. */
  readonly #repeats: (() => boolean) | undefined;
  #step: { step: Step; seen: PromiseWithResolvers<void> } | undefined;
  repeated = 0;

  private constructor(target: number, repeats: (() => boolean) | undefined) {
    this.#target = target;
    this.#repeats = repeats;
    this.#server = net.createServer((client) => this.#pair(client));
  }

  static async start(target: number, repeats?: () => boolean): Promise<Line> {
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

  /** Every present connection goes half-open; later ones are carried. */
  stall(): void {
    for (const pair of this.#pairs) pair.isStalled = true;
  }

  /** Resets every connection. */
  cut(): void {
    for (const { sockets } of this.#pairs) for (const socket of sockets) socket.resetAndDestroy();
  }

  async close(): Promise<void> {
    this.#server.close();
    this.cut();
    await once(this.#server, 'close');
  }

  #pair(client: net.Socket): void {
    const server = net.connect({ port: this.#target, host: '127.0.0.1', noDelay: true });
    client.setNoDelay(true);
    const pair: Pair = { sockets: [client, server], isStalled: false };
    this.#pairs.add(pair);
    for (const [socket, other] of [[client, server], [server, client]] as const) {
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
      if (!splitter) return void to.write(chunk);
      for (const { bytes, isFrame } of splitter.push(chunk)) {
        if (!pair.isStalled) this.#pass(pair, to, isFrame ? bytes : undefined, bytes, direction);
      }
    });
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
