import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import http from 'node:http';
import type { AddressInfo } from 'node:net';
import { systemClock as agentClock } from '../../agent/core/clock.ts';
import { Dialer } from '../../agent/link/dialer.ts';
import { AgentLink } from '../../agent/link/link.ts';
import type { AgentNotice, JobHandlers, LinkHost, RequestHandlers } from '../../agent/link/types.ts';
import type { ChannelSocket, OpenJob, RouterHeartbeat } from '../../protocol/index.ts';
import { systemClock } from '../../server/platform/core/clock.ts';
import { ChannelLimits } from '../../server/platform/tunnel/channel-limits.ts';
import type { ChannelOwner } from '../../server/platform/tunnel/channel-limits.ts';
import { TunnelEndpoint } from '../../server/platform/tunnel/endpoint.ts';
import { TunnelRegistry } from '../../server/platform/tunnel/registry.ts';
import type { TunnelCallbacks, TunnelSettings } from '../../server/platform/tunnel/types.ts';
import { RecordedEvents } from './recorded-events.ts';
import { silentLog } from './silent-log.ts';

/** The agent's record, as in the database. */
interface KnownAgent {
  secret: string;
  epoch: number;
  confirmed: number;
  journalId: string | null;
}

/** Sessions in memory, with the reset rule of docs/job-handover.md. */
export class MemorySessions {
  readonly agents = new Map<string, KnownAgent>();

  add(agentId: string = randomUUID()): { agentId: string; secret: string } {
    this.agents.set(agentId, { secret: 'secret', epoch: 0, confirmed: 0, journalId: null });
    return { agentId, secret: 'secret' };
  }

  callbacks(events: RecordedEvents): TunnelCallbacks {
    return {
      events,
      authenticateAgent: async (bearer) => {
        const [agentId = '', secret] = bearer.split(':');
        return this.agents.get(agentId)?.secret === secret ? { agentId, teamId: 'team', credential: 'hash' } : undefined;
      },
      beginSession: async ({ agentId, hello }) => {
        const agent = this.agents.get(agentId);
        if (!agent) return undefined;
        agent.epoch += 1;
        const strange = agent.journalId !== null && agent.journalId !== hello.journal_id;
        return { epoch: agent.epoch, reset: strange || hello.last_epoch < agent.confirmed };
      },
      confirmSession: async (agentId, epoch, journalId) => {
        const agent = this.agents.get(agentId);
        if (agent?.epoch !== epoch) return false;
        agent.confirmed = epoch;
        agent.journalId = journalId;
        return true;
      },
      endSession: async () => undefined,
    };
  }
}

/** A control plane with the tunnel endpoint only. */
export class TunnelServer {
  readonly events: RecordedEvents;
  readonly sessions: MemorySessions;
  readonly registry: TunnelRegistry;
  readonly endpoint: TunnelEndpoint<ChannelOwner & { token: string }>;
  readonly channels: { context: string; socket: ChannelSocket }[] = [];
  readonly server = http.createServer();
  readonly callbacks: TunnelCallbacks;
  /** Tunnels whose credential was not good. */
  refusals = 0;

  constructor(settings: Partial<TunnelSettings> = {}, events = new RecordedEvents(), sessions = new MemorySessions()) {
    this.events = events;
    this.sessions = sessions;
    this.callbacks = sessions.callbacks(events);
    this.registry = new TunnelRegistry({ callbacks: this.callbacks, clock: systemClock, log: silentLog, settings });
    this.endpoint = new TunnelEndpoint({
      registry: this.registry,
      authenticateAgent: (bearer) => this.#authenticate(bearer),
      authorizeChannel: async (token) => (token.startsWith('forward-') ? { teamId: 'team', agentId: 'agent', token } : undefined),
      channels: new ChannelLimits({ monotonic: () => systemClock.monotonic() }),
      onChannel: ({ token: context }, socket) => this.channels.push({ context, socket }),
      log: silentLog,
    });
    this.endpoint.attach(this.server);
  }

  async #authenticate(bearer: string) {
    const identity = await this.callbacks.authenticateAgent(bearer);
    if (!identity) this.refusals += 1;
    return identity;
  }

  async listen(port = 0): Promise<this> {
    this.server.listen(port, '127.0.0.1');
    await once(this.server, 'listening');
    return this;
  }

  get port(): number {
    return (this.server.address() as AddressInfo).port;
  }

  async close(): Promise<void> {
    await this.endpoint.close();
    this.server.closeAllConnections();
    this.server.close();
  }
}

const notServed = (): Promise<never> => Promise.reject(new Error('no handler in this test'));

/** An agent that consists of its link only; its memory survives when the link is replaced. */
export class TestAgent {
  readonly log: string[] = [];
  readonly identity: { agentId: string; secret: string };
  journalId: string = randomUUID();
  lastEpoch = 0;
  openJobs: OpenJob[] = [];
  heartbeats: RouterHeartbeat[] = [{ name: 'one', reachable: true, uptime_seconds: 1, reason: null }];
  requests: RequestHandlers = {
    command: notServed,
    'forward.open': notServed,
    'forward.close': notServed,
    'backup.take': notServed,
    'backup.read': notServed,
    'backup.remove': notServed,
    'terminal.open': notServed,
    'terminal.close': notServed,
  };
  jobs: Partial<JobHandlers> = {};
  readonly dialer: Dialer;
  readonly link: AgentLink;

  constructor(identity: { agentId: string; secret: string }, port: number) {
    this.identity = identity;
    this.dialer = new Dialer({ server: `http://127.0.0.1:${port}`, ...identity });
    this.link = this.#newLink();
  }

  start(): this {
    this.link.start();
    return this;
  }

  /** The same agent in a second process. */
  twin(port: number): TestAgent {
    const twin = new TestAgent(this.identity, port);
    twin.journalId = this.journalId;
    twin.lastEpoch = this.lastEpoch;
    return twin;
  }

  send(message: AgentNotice): boolean {
    return this.link.send(message);
  }

  stop(): Promise<void> {
    return this.link.stop(1000);
  }

  #newLink(): AgentLink {
    return new AgentLink({
      dialer: this.dialer,
      host: this.#host(),
      clock: agentClock,
      // The shortest pauses, so that no test waits for an unrelated back-off.
      random: () => 0.01,
      log: silentLog,
    });
  }

  #host(): LinkHost {
    const job =
      (name: keyof JobHandlers) =>
      async (idOrOffer: never): Promise<void> => {
        const offer = idOrOffer as { job_id: string } | string;
        this.log.push(`${name} ${(typeof offer === 'string' ? offer : offer.job_id).slice(0, 4)}`);
        await this.jobs[name]?.(idOrOffer);
      };
    return {
      hello: () => ({ agent_version: '1.0.0', journal_id: this.journalId, last_epoch: this.lastEpoch, routers: ['one'] }),
      adopt: async ({ epoch, reset }) => {
        this.lastEpoch = epoch;
        if (reset) {
          this.journalId = randomUUID();
          this.openJobs = [];
        }
        return { journalId: this.journalId, jobs: this.openJobs };
      },
      onReady: (epoch) => this.log.push(`ready #${epoch}`),
      onDown: () => this.log.push('down'),
      heartbeats: () => this.heartbeats,
      requests: {
        command: (params, context) => this.requests.command(params, context),
        'forward.open': (params, context) => this.requests['forward.open'](params, context),
        'forward.close': (params, context) => this.requests['forward.close'](params, context),
        'backup.take': (params, context) => this.requests['backup.take'](params, context),
        'backup.read': (params, context) => this.requests['backup.read'](params, context),
        'backup.remove': (params, context) => this.requests['backup.remove'](params, context),
        'terminal.open': (params, context) => this.requests['terminal.open'](params, context),
        'terminal.close': (params, context) => this.requests['terminal.close'](params, context),
      },
      jobs: { onOffer: job('onOffer'), onGo: job('onGo'), onAck: job('onAck'), onRevoke: job('onRevoke') },
      onRevoked: () => this.log.push('revoked'),
      onTerminalResize: ({ cols, rows }) => this.log.push(`resize ${cols}x${rows}`),
      onChannelDial: (forwardId, count) => this.log.push(`dial ${forwardId.slice(0, 4)} ${count}`),
    };
  }
}
