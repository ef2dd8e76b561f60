import { randomUUID } from 'node:crypto';
import type { JobOffer } from '../../../protocol/index.ts';
import { TestAgent } from '../tunnel-world.ts';
import { waitUntil } from '../wait-until.ts';
import type { Answer, Caller, World } from '../world.ts';

/** For hundreds of routers on a machine that others use. */
const INVENTED_WITHIN_MS = 60_000;
/** Requests of one hostile member at the same time. */
const SIDE_BY_SIDE = 16;

/** A hostile team: a member with a key, and agents that speak the real protocol. `close` stops everything. */
export class HostileTeam {
  readonly caller: Caller;
  readonly #world: World;
  readonly #agents: TestAgent[] = [];
  readonly #closers: (() => unknown)[] = [];

  private constructor(world: World, caller: Caller) {
    this.#world = world;
    this.caller = caller;
  }

  static async join(world: World): Promise<HostileTeam> {
    return new HostileTeam(world, await world.addTeam(`Hostile ${randomUUID()}`));
  }

  get port(): number {
    return Number(new URL(this.#world.server.url).port);
  }

  /** What to clean up at the end. */
  defer(close: () => unknown): void {
    this.#closers.push(close);
  }

  /** A connected agent that sends only heartbeats by default. */
  async agent(prepare: (agent: TestAgent) => void = () => undefined): Promise<TestAgent> {
    const { token } = await this.#world.server.services.credentials.createEnrolToken({ teamId: this.caller.teamId, siteId: null });
    const answer = await fetch(`${this.#world.server.url}/agent/v1/enrol`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ token, name: 'hostile' }),
    });
    const { agent_id: agentId, secret } = (await answer.json()) as { agent_id: string; secret: string };
    const agent = new TestAgent({ agentId, secret }, this.port);
    agent.heartbeats = [];
    prepare(agent);
    this.#agents.push(agent);
    agent.start();
    await waitUntil('the hostile agent is ready', () => agent.log.some((line) => line.startsWith('ready')));
    return agent;
  }

  /** One more session of this agent, as after a restart: from its dial to its end. */
  async session(agent: TestAgent): Promise<void> {
    const again = agent.twin(this.port);
    again.start();
    await waitUntil('the hostile agent is ready again', () => again.log.some((line) => line.startsWith('ready')));
    await again.stop();
    agent.journalId = again.journalId;
    agent.lastEpoch = again.lastEpoch;
  }

  /** Invented routers behind this agent. @returns their ids */
  async inventRouters(agent: TestAgent, count: number): Promise<string[]> {
    const serial = randomUUID().slice(0, 8);
    for (let n = 0; n < count; n += 1) {
      const name = `${serial}-${n}`;
      agent.send({
        type: 'inventory',
        router: name,
        facts: {
          hardware_id: name,
          serial_number: name,
          software_id: null,
          identity: name,
          software_version: '7.18.2 (stable)',
          model: 'RBD52G',
          board_name: 'hAP ac^2',
          hardware_board: true,
          architecture: 'arm',
          time_zone: null,
          uptime: '1h',
          uptime_seconds: 3600,
        },
      });
    }
    // An agent's budget limits their rate, so the list of hundreds is polled rarely.
    return waitUntil(
      'the invented routers are known',
      async () => {
        await new Promise((resolve) => setTimeout(resolve, 200));
        const { body } = await this.caller.call<{ data: { id: string; identity: string }[] }>('GET', '/api/routers');
        const invented = body.data.filter(({ identity }) => identity.startsWith(serial));
        return invented.length === count && invented.map(({ id }) => id);
      },
      INVENTED_WITHIN_MS,
    );
  }

  /** An express job for each router. */
  async queueJobs(routerIds: readonly string[], job: object = {}): Promise<void> {
    const body = {
      description: 'hostile',
      script: ':put 1',
      make_backup: false,
      express_execute: true,
      needs_acknowledgement: true,
      ...job,
    };
    await this.each(routerIds, (id) => this.must('POST', `/api/asynchronous/${id}`, body));
  }

  /** A request that must succeed. */
  async must(method: string, url: string, body?: unknown): Promise<Answer<Record<string, unknown>>> {
    const answer = await this.caller.call(method, url, body);
    if (answer.status >= 300) throw new Error(`${method} ${url}: ${answer.status} ${JSON.stringify(answer.body)}`);
    return answer;
  }

  /** Does something with each, some of them side by side. */
  async each<T>(items: readonly T[], work: (item: T) => Promise<unknown>): Promise<void> {
    const rest = [...items];
    const row = async (): Promise<void> => {
      while (rest.length > 0) await work(rest.shift()!);
    };
    await Promise.all(Array.from({ length: SIDE_BY_SIDE }, row));
  }

  async close(): Promise<void> {
    for (const close of this.#closers.splice(0).reverse()) await close();
    await Promise.all(this.#agents.map((agent) => agent.stop()));
  }
}

/** Reports every job as completed at once. */
export function runsAllJobs(agent: TestAgent): void {
  agent.jobs.onOffer = async ({ job_id }: JobOffer): Promise<void> => void agent.send({ type: 'job.accepted', job_id });
  agent.jobs.onGo = async (jobId: string): Promise<void> => {
    agent.send({ type: 'job.began', job_id: jobId });
    agent.send({
      type: 'job.ended',
      job_id: jobId,
      result: { outcome: 'completed', reason: null, error: null, output: null, output_truncated: false },
    });
  };
}

/** Never settles before the caller gives up. */
export function never(_params: unknown, { signal }: { signal: AbortSignal }): Promise<never> {
  return new Promise((_resolve, reject) => signal.addEventListener('abort', () => reject(new Error('given up')), { once: true }));
}
