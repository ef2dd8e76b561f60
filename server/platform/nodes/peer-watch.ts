import { setTimeout as pause } from 'node:timers/promises';
import { z } from 'zod';
import { BusAwayError, NobodyListensError } from '../bus/errors.ts';
import type { Bus } from '../bus/types.ts';
import type { Clock } from '../core/clock.ts';
import { AppError } from '../core/errors.ts';
import type { Log } from '../core/log.ts';
import { Periodic } from '../core/periodic.ts';
import type { NodeRecord } from './store.ts';

/** Records of several control planes with clocks that differ by more get into a wrong order that people notice. */
const NOTED_MS = 2000;
/** Times of waits, of tokens and of retries would be wrong. */
const REFUSED_MS = 30_000;
const LOOK_EVERY_MS = 60_000;
const ANSWER_MS = 2000;
const CONNECT_MS = 3000;
/** Another control plane that was cut off from the bus for a moment is back within this time, or says in the database that it is not. */
const PATIENCE_MS = 10_000;
const AGAIN_MS = 500;

const greeting = z.object({ now: z.number() });
const subjectOf = (nodeId: string): string => `signalbox.node.${nodeId}.hello`;

export interface PeerWatchDeps {
  nodeId: string;
  bus: Bus;
  clock: Clock;
  log: Log;
  /** All that serve the database now, as they say. */
  nodes: () => Promise<NodeRecord[]>;
  signal?: AbortSignal | undefined;
}

/** What became of a greeting. The difference is that of the other's clock, milliseconds, as far as it is certain. */
type Heard = { kind: 'answered'; differenceMs: number } | { kind: 'nobody' } | { kind: 'unknown' };

/** Knows the other control planes of the database by the bus: that they are on it, and how their clocks differ from this one. */
export class PeerWatch {
  readonly #deps: PeerWatchDeps;
  readonly #looks: Periodic;
  /** Those of which the log says that their clock differs. */
  #noted = new Set<string>();

  constructor(deps: PeerWatchDeps) {
    this.#deps = deps;
    const { nodeId, bus, clock, log } = deps;
    bus.answer(subjectOf(nodeId), async () => ({ now: clock.now() }));
    this.#looks = new Periodic({
      clock,
      log,
      everyMs: LOOK_EVERY_MS,
      failure: 'the clocks of the other control planes could not be compared',
      run: () => this.#compareClocks(),
    });
  }

  /**
   * Before anything is done as one of several. While the bus is away nothing is known, and nothing is refused.
   * @throws AppError `conflict` when another one serves the database over another bus or has the same address, or when the clocks differ by
   *   over 30 s
   */
  async start(): Promise<void> {
    const { bus, nodes, nodeId } = this.#deps;
    const all = await nodes();
    const ownUrl = all.find(({ id }) => id === nodeId)?.public_url;
    const first = new Map(all.filter(({ id }) => id !== nodeId).map((node) => [node.id, node]));
    const until = performance.now() + PATIENCE_MS;
    if (first.size > 0) await this.#untilConnected();
    while (first.size > 0 && bus.isConnected) {
      const strange = [];
      for (const node of (await nodes()).filter(({ id }) => first.has(id))) {
        const heard = await this.#greet(node.id);
        if (heard.kind === 'answered') {
          // One that drains may be the one that this one replaces.
          if (ownUrl && node.public_url === ownUrl && node.state !== 'draining') throw sameAddress(node);
          this.#judge(node, heard.differenceMs);
        }
        // One that does not beat is dying, and one without a bus says so.
        if (heard.kind === 'nobody' && node.on_bus === 1) strange.push(node);
        else first.delete(node.id);
      }
      const [other] = strange;
      if (!other) break;
      if (performance.now() >= until && other.beat > first.get(other.id)!.beat) throw otherBus(other);
      if (performance.now() >= until + PATIENCE_MS) break;
      await this.#pause();
    }
    this.#looks.start();
  }

  stop(): Promise<void> {
    return this.#looks.stop();
  }

  /** The first connection takes some milliseconds. */
  async #untilConnected(): Promise<void> {
    const until = performance.now() + CONNECT_MS;
    while (!this.#deps.bus.isConnected && performance.now() < until) await this.#pause();
  }

  async #pause(): Promise<void> {
    await pause(AGAIN_MS, undefined, { signal: this.#deps.signal }).catch(() => {
      throw new AppError('unavailable', 'stopped while looking for the other control planes');
    });
  }

  #judge({ id, name }: NodeRecord, differenceMs: number): void {
    if (Math.abs(differenceMs) >= REFUSED_MS) {
      const by = `${Math.round(Math.abs(differenceMs) / 1000)} s ${differenceMs > 0 ? 'behind' : 'ahead of'}`;
      throw new AppError('conflict', `the clock of this machine is ${by} that of ${name}: set both by NTP, then start again`);
    }
    this.#note(id, name, differenceMs);
  }

  #note(id: string, name: string, differenceMs: number): void {
    const differs = Math.abs(differenceMs) >= NOTED_MS;
    if (differs && !this.#noted.has(id)) {
      const fields = { reason: name, duration_ms: Math.round(differenceMs) };
      this.#deps.log.warn(fields, 'the clock of another control plane differs from this one: set both by NTP');
    }
    if (differs) this.#noted.add(id);
    else this.#noted.delete(id);
  }

  async #compareClocks(): Promise<void> {
    const others = (await this.#deps.nodes()).filter(({ id }) => id !== this.#deps.nodeId);
    this.#noted = new Set([...this.#noted].filter((noted) => others.some(({ id }) => id === noted)));
    for (const { id, name } of others) {
      const heard = await this.#greet(id);
      if (heard.kind === 'answered') this.#note(id, name, heard.differenceMs);
    }
  }

  async #greet(nodeId: string): Promise<Heard> {
    const { bus, clock } = this.#deps;
    const askedAt = clock.now();
    const began = performance.now();
    try {
      const { now } = greeting.parse(await bus.ask(subjectOf(nodeId), {}, { timeoutMs: ANSWER_MS }));
      // It was read at some moment between the question and the answer.
      const halfMs = (performance.now() - began) / 2;
      const differenceMs = now - (askedAt + halfMs);
      return { kind: 'answered', differenceMs: Math.sign(differenceMs) * Math.max(0, Math.abs(differenceMs) - halfMs) };
    } catch (error) {
      if (error instanceof NobodyListensError) return { kind: 'nobody' };
      if (error instanceof BusAwayError || error instanceof AppError) return { kind: 'unknown' };
      throw error;
    }
  }
}

function otherBus({ name }: NodeRecord): AppError {
  return new AppError(
    'conflict',
    `${name} serves this database over another bus: SIGNALBOX_BUS_URL of all its control planes must lead to the same NATS servers`,
  );
}

function sameAddress({ name, public_url: url }: NodeRecord): AppError {
  return new AppError(
    'conflict',
    `${name} serves this database at ${url}, too: agents must reach each control plane at its own SIGNALBOX_NODE_PUBLIC_URL`,
  );
}
