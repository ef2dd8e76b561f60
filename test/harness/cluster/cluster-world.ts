import path from 'node:path';
import { databaseKinds } from '../databases.ts';
import { clusterSettings } from './settings.ts';
import { NatsServer } from '../nats-server.ts';
import { Program } from '../program.ts';
import type { SimulatorOptions } from '../../simulator/index.ts';
import { waitUntil } from '../wait-until.ts';
import { World } from '../world.ts';
import type { Answer } from '../world.ts';
import { Balancer } from './balancer.ts';

/** PostgreSQL as a real server; undefined where it is not installed. */
export const postgres = databaseKinds().find(({ name }) => name === 'PostgreSQL');

/** A command as a caller of one of the control planes sends it. */
export interface Asked {
  command: string;
  parameters?: string;
  timeout_seconds?: number;
}

/**
 * Two control planes on one PostgreSQL with a real nats-server: `own` in this process, `other` in one that can be killed and frozen. One
 * agent with one router reaches both through a balancer that prefers `other`.
 */
export class ClusterWorld {
  readonly world: World;
  readonly nats: NatsServer;
  readonly other: Program;
  readonly otherUrl: string;
  readonly balancer: Balancer;
  readonly routerId: string;
  readonly agentId: string;

  private constructor(parts: Pick<ClusterWorld, 'world' | 'nats' | 'other' | 'otherUrl' | 'balancer' | 'routerId' | 'agentId'>) {
    this.world = parts.world;
    this.nats = parts.nats;
    this.other = parts.other;
    this.otherUrl = parts.otherUrl;
    this.balancer = parts.balancer;
    this.routerId = parts.routerId;
    this.agentId = parts.agentId;
  }

  /** Resolves when the agent is connected to `other`. @param closers called by the test at its end, the last one first */
  static async start(closers: (() => Promise<void>)[], router: Partial<SimulatorOptions> = {}): Promise<ClusterWorld> {
    const { url: databaseUrl } = await postgres!.createMigrated();
    const nats = await NatsServer.start();
    closers.push(() => nats.close());
    const world = await World.start({ databaseUrl, routers: [router], server: await clusterSettings(nats) });
    closers.push(() => world.close());
    const [routerId] = await world.routerIds();
    const settings = await clusterSettings(nats);
    const port = Number(new URL(settings.SIGNALBOX_NODE_PUBLIC_URL).port);
    const other = new Program('test/harness/cluster/member.ts', [], {
      ...settings,
      SIGNALBOX_ALLOW_PRIVATE_SOURCES: 'on',
      SIGNALBOX_FORWARD_PORTS: '21000-29999',
      SIGNALBOX_SANDBOX_LISTEN: '',
      SIGNALBOX_DATABASE_URL: databaseUrl,
      SIGNALBOX_SECRET_KEY_FILE: path.join(world.folder, 'secret.key'),
      SIGNALBOX_RATE_LIMIT_PER_MINUTE: '100000',
      SIGNALBOX_HEARTBEAT_SECONDS: '1',
      SIGNALBOX_OFFLINE_AFTER_SECONDS: '3',
      SIGNALBOX_LOG_LEVEL: 'warn',
    });
    other.start();
    closers.push(() => other.kill());
    await waitUntil('the other control plane is ready', () => {
      if (!other.isRunning) throw new Error(other.output);
      return other.output.includes('ready at');
    });
    const { agent_id: agentId } = await world.server.services.routers.getRouter(world.caller.teamId, routerId!);
    const balancer = await Balancer.start([port, Number(new URL(world.server.url).port)]);
    closers.push(() => balancer.close());
    const parts = { world, nats, other, otherUrl: `http://127.0.0.1:${port}`, balancer, routerId: routerId!, agentId };
    const started = new ClusterWorld(parts);
    await started.restartAgent(balancer.url);
    await waitUntil('the agent is connected to the other', () => started.answersAtOther());
    return started;
  }

  /** Sends a command to the control plane of this process. */
  async ask(asked: Asked): Promise<Answer<{ data: Record<string, string>[]; code?: string; detail?: string }>> {
    return this.world.caller.call('POST', `/api/synchronous/${this.routerId}`, asked);
  }

  /** Sends a command to the other control plane. */
  async askOther(asked: Asked): Promise<Answer<{ data: Record<string, string>[]; code?: string; detail?: string }>> {
    return this.callOther('POST', `/api/synchronous/${this.routerId}`, asked);
  }

  /** Calls the API of the other control plane. */
  async callOther<T>(method: string, route: string, body: unknown): Promise<Answer<T>> {
    const answer = await fetch(`${this.otherUrl}${route}`, {
      method,
      headers: { authorization: `Bearer ${this.world.caller.apiKey}`, 'content-type': 'application/json' },
      body: JSON.stringify(body),
    });
    return { status: answer.status, headers: answer.headers, body: (await answer.json()) as never };
  }

  /** The agent has its tunnel with the control plane of this process. */
  get isHere(): boolean {
    return this.world.server.services.gateway.epoch(this.agentId) !== undefined;
  }

  async stopAgent(): Promise<void> {
    await this.world.agent?.close();
    this.world.agent = undefined;
  }

  async restartAgent(server: string): Promise<void> {
    await this.stopAgent();
    await this.world.startAgent({ server });
  }

  /** Ids of the control planes that count, as the database has them. */
  async nodes(): Promise<string[]> {
    const { db } = this.world.server.services.storage;
    const rows = await db.selectFrom('nodes').select('id').orderBy('id').execute();
    return rows.map(({ id }) => id);
  }

  async answersAtOther(): Promise<boolean> {
    return !this.isHere && (await this.askOther({ command: '/system/identity/print' })).status === 200;
  }
}
