import { once } from 'node:events';
import net from 'node:net';
import { Signalbox } from '../../../client/index.ts';
import type { StreamEvent } from '../../../client/index.ts';
import { waitUntil } from '../wait-until.ts';
import { WebhookReceiver } from '../webhook-receiver.ts';
import type { World } from '../world.ts';

/** The everyday operations of a neighbour team, and their durations in milliseconds. */
export const OPERATIONS = ['express job', 'event', 'webhook', 'command', 'forward', 'backup'] as const;
export type Operation = (typeof OPERATIONS)[number];
/** The slowest of each operation: with so few samples, at least the 99th percentile. */
export type Slowest = Record<Operation, number>;

/** How often each operation is done in one measurement. */
const JOBS = 8;
const COMMANDS = 20;
const FORWARDS = 5;
/** A longer wait counts as starved; the rest of the measurement is skipped. */
const STARVED_MS = 6000;

/** A team that only does its work: one real agent, simulated routers, a listener and a receiver of its own. */
export class Neighbour {
  readonly receiver: WebhookReceiver;
  readonly #world: World;
  readonly #routerId: string;
  /** Backups take seconds at rest. Each has a router of its own, so that nothing else waits for it. */
  readonly #backupRouterIds: readonly string[];
  readonly #target: net.Server;
  readonly #heard: { event: StreamEvent; at: number }[] = [];
  readonly #stop = new AbortController();
  #listening: Promise<void> = Promise.resolve();

  private constructor(
    world: World,
    [routerId, ...backupRouterIds]: readonly [string, ...string[]],
    receiver: WebhookReceiver,
    target: net.Server,
  ) {
    this.#world = world;
    this.#routerId = routerId;
    this.#backupRouterIds = backupRouterIds;
    this.receiver = receiver;
    this.#target = target;
  }

  /** @param world has a router for each backup of a measurement, and one for everything else */
  static async start(world: World): Promise<Neighbour> {
    const routerIds = (await world.routerIds()) as [string, ...string[]];
    const target = net.createServer((socket) => {
      socket.on('error', () => undefined);
      socket.write('!');
    });
    target.listen(0, '127.0.0.1');
    await once(target, 'listening');
    const receiver = await WebhookReceiver.start();
    // The hanging page is for other tests; the neighbour does not request it.
    receiver.reply = (response) => void (response.req.url === '/hang' || response.writeHead(204).end());
    const neighbour = new Neighbour(world, routerIds, receiver, target);
    const { promise, resolve } = Promise.withResolvers<void>();
    neighbour.#listening = neighbour.#listen(resolve);
    await promise;
    return neighbour;
  }

  async close(): Promise<void> {
    this.#stop.abort();
    await this.#listening;
    this.#target.close();
    await this.receiver.close();
  }

  /** Repeats all operations one after another, backups beside the others. @throws when anything is refused */
  async measure(): Promise<Slowest> {
    const slowest = Object.fromEntries(OPERATIONS.map((operation) => [operation, 0])) as Slowest;
    const note = (operation: Operation, ms: number): void => void (slowest[operation] = Math.max(slowest[operation], ms));
    const repeat = async (times: number, work: () => Promise<Partial<Slowest>>): Promise<void> => {
      for (let n = 0; n < times; n += 1) {
        const took = await work();
        for (const [operation, ms] of Object.entries(took)) note(operation as Operation, ms);
        if (Object.values(took).some((ms) => ms >= STARVED_MS)) return;
      }
    };
    const others = async (): Promise<void> => {
      await repeat(COMMANDS, () => this.#command());
      await repeat(JOBS, () => this.#job());
      await repeat(FORWARDS, () => this.#forward());
    };
    const backups = this.#backupRouterIds.map((routerId) => repeat(1, () => this.#backup(routerId)));
    await Promise.all([others(), ...backups]);
    return slowest;
  }

  async #command(): Promise<Partial<Slowest>> {
    const started = performance.now();
    await this.#must('POST', `/api/synchronous/${this.#routerId}`, { command: '/system/identity/print', parameters: '' });
    return { command: performance.now() - started };
  }

  async #job(): Promise<Partial<Slowest>> {
    const path = `/good/${performance.now()}`;
    const started = performance.now();
    const jobId = await this.#submit(this.#routerId, { make_backup: false, notify_url: `${this.receiver.url}${path}` });
    const [event, webhook, job] = await Promise.all([
      this.#until(started, () => this.#heardAt(jobId, 'job.pending')),
      this.#until(started, () => (this.receiver.received.some((received) => received.path === path) ? performance.now() : undefined)),
      this.#until(started, () => this.#heardAt(jobId, 'job.completed')),
    ]);
    return { event, webhook, 'express job': job };
  }

  async #forward(): Promise<Partial<Slowest>> {
    const { port } = this.#target.address() as net.AddressInfo;
    const started = performance.now();
    const body = { expire_after_minutes: 10, dst_port: port, dst_address: '127.0.0.1', allow_from: '127.0.0.1' };
    const forwards = `/api/routers/${this.#routerId}/transient-forwarding`;
    const made = (await this.#must('POST', forwards, body)) as { id: string; port: number };
    const socket = net.connect({ host: '127.0.0.1', port: made.port }).on('error', () => undefined);
    await Promise.race([once(socket, 'data'), once(socket, 'close'), new Promise((resolve) => setTimeout(resolve, STARVED_MS).unref())]);
    const took = socket.bytesRead > 0 ? performance.now() - started : STARVED_MS;
    socket.destroy();
    await this.#must('DELETE', `${forwards}/${made.id}`);
    return { forward: took };
  }

  /** From the request to the files in the database. */
  async #backup(routerId: string): Promise<Partial<Slowest>> {
    const started = performance.now();
    const jobId = await this.#submit(routerId, { make_backup: true });
    const backups = `/api/routers/${routerId}/backups?limit=5`;
    const backup = await this.#until(started, async () => {
      const { data } = (await this.#must('GET', backups)) as { data: { job_id: string; state: string }[] };
      return data.some(({ job_id, state }) => job_id === jobId && state === 'stored') ? performance.now() : undefined;
    });
    return { backup };
  }

  async #submit(routerId: string, job: { make_backup: boolean; notify_url?: string }): Promise<string> {
    const body = { description: 'good', script: ':put 1', express_execute: true, needs_acknowledgement: true, ...job };
    const made = (await this.#must('POST', `/api/asynchronous/${routerId}`, body)) as { data: { job_id: string } };
    return made.data.job_id;
  }

  async #until(started: number, look: () => number | undefined | Promise<number | undefined>): Promise<number> {
    const at = await waitUntil('it has happened', look, STARVED_MS).catch(() => started + STARVED_MS);
    return at - started;
  }

  #heardAt(jobId: string, type: string): number | undefined {
    return this.#heard.find(({ event }) => event.type === type && event.data['job_id'] === jobId)?.at;
  }

  /** A 503 of a full process counts as the time until the request is served, as for every client that tries again. */
  async #must(method: string, url: string, body?: unknown): Promise<unknown> {
    const answer = await waitUntil(
      `${method} ${url} is served`,
      async () => {
        const one = await this.#world.caller.call(method, url, body);
        return one.status === 503 ? undefined : one;
      },
      STARVED_MS,
    );
    if (answer.status >= 300)
      throw new Error(`the neighbour was refused: ${method} ${url}: ${answer.status} ${JSON.stringify(answer.body)}`);
    return answer.body;
  }

  async #listen(onOpen: () => void): Promise<void> {
    const { server, caller } = this.#world;
    const signalbox = new Signalbox({ server: server.url, key: caller.apiKey });
    try {
      for await (const event of signalbox.events({ signal: this.#stop.signal, onOpen })) this.#heard.push({ event, at: performance.now() });
    } catch (error) {
      if (!this.#stop.signal.aborted) throw error;
    }
  }
}
