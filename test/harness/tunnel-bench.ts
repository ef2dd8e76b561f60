import { randomUUID } from 'node:crypto';
import type { AgentMessage, OpenJob } from '../../protocol/index.ts';
import { Counters } from '../../server/platform/core/counters.ts';
import { TunnelRegistry } from '../../server/platform/tunnel/registry.ts';
import type { TunnelCallbacks } from '../../server/platform/tunnel/types.ts';
import { FakeTunnelSocket } from './fake-tunnel-socket.ts';
import { ManualClock } from './manual-clock.ts';
import { RecordedEvents } from './recorded-events.ts';
import { silentLog } from './silent-log.ts';
import { MemorySessions } from './tunnel-world.ts';

type Hello = Extract<AgentMessage, { type: 'hello' }>;

/** Lets everything that can run now run; no time passes. */
export async function settle(): Promise<void> {
  for (let i = 0; i < 20; i += 1) await Promise.resolve();
}

/** A registry with sockets in memory and a clock that the test advances. */
export class TunnelBench {
  readonly clock = new ManualClock();
  readonly counters = new Counters();
  readonly events: RecordedEvents;
  readonly sessions = new MemorySessions();
  readonly callbacks: TunnelCallbacks;
  readonly registry: TunnelRegistry;
  readonly agentId: string;
  readonly journalId: string = randomUUID();

  constructor(events = new RecordedEvents(), overrides: Partial<TunnelCallbacks> = {}) {
    this.events = events;
    this.agentId = this.sessions.add().agentId;
    this.callbacks = { ...this.sessions.callbacks(events), ...overrides };
    this.registry = new TunnelRegistry({
      callbacks: this.callbacks,
      clock: this.clock,
      log: silentLog,
      counters: this.counters,
      settings: { heartbeatMs: 30_000, pingMs: 25_000, silenceMs: 55_000 },
      random: () => 0.5,
    });
  }

  /** An agent's new connection, before it has said anything. */
  connect(agentId = this.agentId): FakeTunnelSocket {
    return this.connectAs(agentId, 'team');
  }

  /** As {@link connect}, for an agent of another team. */
  connectAs(agentId: string, teamId: string): FakeTunnelSocket {
    const socket = new FakeTunnelSocket();
    socket.session = this.registry.open({ agentId, teamId, credential: 'hash' }, '192.0.2.1', socket);
    return socket;
  }

  hello(change: Partial<Hello> = {}): Hello {
    const lastEpoch = this.sessions.agents.get(this.agentId)?.confirmed ?? 0;
    return {
      type: 'hello',
      versions: [1],
      agent_version: '1.0.0',
      journal_id: this.journalId,
      last_epoch: lastEpoch,
      routers: ['one'],
      ...change,
    };
  }

  /** Brings a connection to welcome. */
  async welcomed(change: Partial<Hello> = {}): Promise<FakeTunnelSocket> {
    const socket = this.connect();
    socket.say(this.hello(change));
    await settle();
    return socket;
  }

  /** Says ready with the epoch of the welcome. */
  sayReady(socket: FakeTunnelSocket, jobs: OpenJob[] = [], journalId = this.journalId): void {
    socket.say({ type: 'ready', epoch: socket.last('welcome')?.epoch ?? 0, journal_id: journalId, jobs });
  }

  /** Brings a connection to ready. */
  async ready(jobs: OpenJob[] = []): Promise<FakeTunnelSocket> {
    const socket = await this.welcomed();
    this.sayReady(socket, jobs);
    await settle();
    return socket;
  }
}
