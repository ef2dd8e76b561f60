import type { JobResult } from '../../../protocol/index.ts';
import type { AgentConnection, Notice } from '../../../server/platform/core/agent-gateway.ts';
import type { JobsService } from '../../../server/work/jobs/service.ts';
import { newId } from '../../../server/platform/core/ids.ts';
import { inChunks } from '../../../server/platform/storage/columns.ts';
import type { Storage } from '../../../server/platform/storage/db.ts';
import { seedAgent, seedTeam } from '../seed.ts';

export const DONE: JobResult = { outcome: 'completed', reason: null, error: null, output: 'ok', output_truncated: false };
export const FAILED: JobResult = {
  outcome: 'failed',
  reason: 'script_error',
  error: 'no such item',
  output: null,
  output_truncated: false,
};
export const UNKNOWN: JobResult = { outcome: 'unknown', reason: 'interrupted', error: null, output: null, output_truncated: false };

interface Held {
  connection: AgentConnection;
  jobId: string;
  routerId: string;
}

/**
 * Agents with many routers, of which nothing is real but what they say to the control plane. It stands where the tunnel
 * does: what is offered is accepted, begun and ended, as far as the test lets it.
 */
export class FakeFleet {
  readonly teamId: string;
  readonly routerIds: string[];
  /** Router ids in the order in which scripts began; one that is in it twice ran twice. */
  readonly runs: string[] = [];
  /** Result of a script; `hold`: it runs until {@link end}. */
  answer: (routerId: string) => JobResult | 'hold' = () => DONE;
  /** Most scripts that ran at the same time. */
  mostAtOnce = 0;
  readonly held: Held[] = [];
  readonly away = new Set<string>();
  readonly #agents: Map<string, AgentConnection>;
  /** What the agents have in their journals. */
  readonly #open = new Map<string, { agentId: string; routerId: string; state: 'accepted' | 'begun' }>();
  readonly #hearing = new Set<Promise<void>>();
  #running = 0;
  #jobs: JobsService | undefined;

  private constructor(teamId: string, agents: Map<string, AgentConnection>, routerIds: string[]) {
    this.teamId = teamId;
    this.#agents = agents;
    this.routerIds = routerIds;
  }

  static async create(storage: Storage, options: { routers: number; agents?: number; teamId?: string }): Promise<FakeFleet> {
    const teamId = options.teamId ?? (await seedTeam(storage)).teamId;
    const agentIds: string[] = [];
    for (let index = 0; index < (options.agents ?? 1); index += 1) agentIds.push(await seedAgent(storage, teamId));
    const routerIds = Array.from({ length: options.routers }, (_, index) => newId(1000 + index));
    const rows = routerIds.map((id, index) => routerRow(teamId, agentIds[index % agentIds.length]!, id, 1000 + index));
    for (const chunk of inChunks(rows)) await storage.db.insertInto('routers').values(chunk).execute();
    const agents = new Map(agentIds.map((agentId) => [agentId, { teamId, agentId, epoch: 0, address: '', reset: false }]));
    return new FakeFleet(teamId, agents, routerIds);
  }

  /** All agents dial. Call again after a restart of the control plane. */
  async connect(jobs: JobsService): Promise<void> {
    this.#jobs = jobs;
    for (const connection of this.#agents.values()) {
      const open = [...this.#open].filter(([, { agentId }]) => agentId === connection.agentId);
      await jobs.onReady(
        connection,
        open.map(([jobId, { state }]) => ({ job_id: jobId, state })),
      );
    }
  }

  /** All tunnels end, when what came through them has been dealt with. */
  async disconnect(): Promise<void> {
    const jobs = this.#jobs;
    this.#jobs = undefined;
    await Promise.all(this.#hearing);
    for (const connection of this.#agents.values()) jobs?.onGone(connection);
  }

  /** The tunnel's way out. */
  notify(agentId: string, message: Notice): boolean {
    const connection = this.#agents.get(agentId);
    if (!connection || !this.#jobs) return false;
    const hearing = this.#hear(this.#jobs, connection, message).finally(() => this.#hearing.delete(hearing));
    this.#hearing.add(hearing);
    return true;
  }

  /** The tunnel of an agent. */
  connectionOf(agentId: string): AgentConnection {
    return this.#agents.get(agentId)!;
  }

  /** Ends held scripts, all of them by default. */
  async end(result: JobResult = DONE, count = this.held.length): Promise<void> {
    for (const { connection, jobId } of this.held.splice(0, count)) await this.#end(this.#jobs!, connection, jobId, result);
  }

  /** A router is reachable again. */
  comeBack(routerId: string): void {
    this.away.delete(routerId);
    for (const connection of this.#agents.values()) {
      const routers = [{ name: routerId, reachable: true, uptime_seconds: null, reason: null }];
      this.#jobs?.onHeartbeat(connection, { type: 'heartbeat', routers });
    }
  }

  async #hear(jobs: JobsService, connection: AgentConnection, message: Notice): Promise<void> {
    // As over a socket: never within the call that sent it.
    await new Promise(setImmediate);
    const { agentId } = connection;
    if (message.type === 'job.offer') {
      if (this.away.has(message.router))
        return jobs.onJobDeclined(connection, { type: 'job.declined', job_id: message.job_id, reason: 'router_unreachable' });
      this.#open.set(message.job_id, { agentId, routerId: message.router, state: 'accepted' });
      return jobs.onJobAccepted(connection, message.job_id);
    }
    if (message.type === 'job.revoke' && this.#open.delete(message.job_id)) return jobs.onJobRefused(connection, message.job_id);
    if (message.type === 'job.go') return this.#run(jobs, connection, message.job_id);
  }

  async #run(jobs: JobsService, connection: AgentConnection, jobId: string): Promise<void> {
    const job = this.#open.get(jobId);
    if (job?.state !== 'accepted') return;
    job.state = 'begun';
    const { routerId } = job;
    this.runs.push(routerId);
    this.#running += 1;
    this.mostAtOnce = Math.max(this.mostAtOnce, this.#running);
    await jobs.onJobBegan(connection, jobId);
    const answer = this.answer(routerId);
    if (answer === 'hold') this.held.push({ connection, jobId, routerId });
    else await this.#end(jobs, connection, jobId, answer);
  }

  async #end(jobs: JobsService, connection: AgentConnection, jobId: string, result: JobResult): Promise<void> {
    this.#running -= 1;
    this.#open.delete(jobId);
    await jobs.onJobEnded(connection, jobId, result);
  }
}

/** Routers are called by their ids on the tunnel. */
function routerRow(teamId: string, agentId: string, id: string, now: number) {
  return {
    id,
    team_id: teamId,
    site_id: null,
    hardware_id: `serial ${id}`,
    agent_id: agentId,
    agent_router: id,
    serial_number: null,
    software_id: null,
    identity: 'MikroTik',
    software_version: '7.18.2 (stable)',
    model: null,
    board_name: 'CHR',
    hardware_board: 0 as const,
    architecture: null,
    time_zone: null,
    created_at: now,
    updated_at: now,
  };
}
