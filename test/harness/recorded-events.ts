import type { AgentConnection, AgentEvents } from '../../server/platform/core/agent-gateway.ts';

/** The events that the features received, in order: `ready agent-1/3`, `heartbeat agent-1/3 …`. */
export class RecordedEvents implements AgentEvents {
  readonly lines: string[] = [];
  readonly connections: AgentConnection[] = [];
  /** Replace single answers here. */
  readonly overrides: Partial<AgentEvents>;

  constructor(overrides: Partial<AgentEvents> = {}) {
    this.overrides = overrides;
  }

  onReady: AgentEvents['onReady'] = async (connection, jobs) => {
    this.connections.push(connection);
    this.#note('ready', connection, jobs.map((job) => `${job.job_id.slice(0, 4)}:${job.state}`).join(' '));
    await this.overrides.onReady?.(connection, jobs);
  };

  onGone: AgentEvents['onGone'] = (connection, end) => {
    this.#note('gone', connection);
    this.overrides.onGone?.(connection, end);
  };

  onHeartbeat: AgentEvents['onHeartbeat'] = (connection, heartbeat) => {
    this.#note('heartbeat', connection, heartbeat.routers.map((beat) => `${beat.name}=${beat.reachable ? 'up' : 'down'}`).join(' '));
    this.overrides.onHeartbeat?.(connection, heartbeat);
  };

  onInventory: AgentEvents['onInventory'] = async (connection, inventory) => {
    this.#note('inventory', connection, inventory.router);
    await this.overrides.onInventory?.(connection, inventory);
  };

  onJobAccepted: AgentEvents['onJobAccepted'] = (connection, jobId) =>
    this.#job('accepted', connection, jobId, this.overrides.onJobAccepted);
  onJobBegan: AgentEvents['onJobBegan'] = (connection, jobId) => this.#job('began', connection, jobId, this.overrides.onJobBegan);
  onJobRefused: AgentEvents['onJobRefused'] = (connection, jobId) => this.#job('refused', connection, jobId, this.overrides.onJobRefused);

  onJobDeclined: AgentEvents['onJobDeclined'] = async (connection, declined) => {
    this.#note('declined', connection, `${declined.job_id.slice(0, 4)} ${declined.reason}`);
    await this.overrides.onJobDeclined?.(connection, declined);
  };

  onJobEnded: AgentEvents['onJobEnded'] = async (connection, jobId, result) => {
    this.#note('ended', connection, `${jobId.slice(0, 4)} ${result.outcome}`);
    await this.overrides.onJobEnded?.(connection, jobId, result);
  };

  onForwardLost: AgentEvents['onForwardLost'] = (connection, forwardId, reason) => {
    this.#note('forward lost', connection, `${forwardId.slice(0, 4)} ${reason}`);
    this.overrides.onForwardLost?.(connection, forwardId, reason);
  };

  /** Lines without heartbeats, whose order is not determined. */
  get story(): string[] {
    return this.lines.filter((line) => !line.startsWith('heartbeat'));
  }

  async #job(
    what: string,
    connection: AgentConnection,
    jobId: string,
    override: ((connection: AgentConnection, jobId: string) => Promise<void>) | undefined,
  ): Promise<void> {
    this.#note(what, connection, jobId.slice(0, 4));
    await override?.(connection, jobId);
  }

  #note(what: string, { epoch }: AgentConnection, detail = ''): void {
    this.lines.push(`${what} #${epoch}${detail === '' ? '' : ` ${detail}`}`);
  }
}
