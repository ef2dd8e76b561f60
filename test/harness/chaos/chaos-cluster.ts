import { freePort } from '../installation.ts';
import { Balancer } from '../cluster/balancer.ts';
import { NatsServer } from '../nats-server.ts';
import { postgresSocket } from '../postgres-server.ts';
import type { PostgresServer } from '../postgres-server.ts';
import { Line } from './line.ts';

/** One of several control planes: where it listens, and its lines to the database and to the bus. */
export interface ChaosNode {
  port: number;
  database: Line;
  bus: Line;
}

/** What several control planes have in common: the bus, and a balancer that spreads connections over them. */
export class ChaosCluster {
  readonly nodes: readonly ChaosNode[];
  readonly nats: NatsServer;
  readonly balancer: Balancer;

  private constructor(parts: Pick<ChaosCluster, 'nodes' | 'nats' | 'balancer'>) {
    this.nodes = parts.nodes;
    this.nats = parts.nats;
    this.balancer = parts.balancer;
  }

  static async start(nodes: number, postgres: PostgresServer): Promise<ChaosCluster> {
    const nats = await NatsServer.start();
    const made: ChaosNode[] = [];
    for (let index = 0; index < nodes; index += 1) {
      const [database, bus] = [await Line.start(postgresSocket(postgres.socketFolder)), await Line.start(nats.port)];
      made.push({ port: await freePort(), database, bus });
    }
    const ports = made.map(({ port }) => port);
    return new ChaosCluster({ nodes: made, nats, balancer: await Balancer.start(ports, { spread: true }) });
  }

  /** Of the control plane on this node. */
  settingsOf({ port, database, bus }: ChaosNode): Record<string, string> {
    return {
      SIGNALBOX_LISTEN: `127.0.0.1:${port}`,
      SIGNALBOX_DATABASE_URL: `postgres://signalbox@127.0.0.1:${database.port}/postgres`,
      SIGNALBOX_BUS_URL: `nats://127.0.0.1:${bus.port}`,
      SIGNALBOX_NODE_PUBLIC_URL: `http://127.0.0.1:${port}`,
      SIGNALBOX_DRAIN_SECONDS: '1',
      SIGNALBOX_LOG_LEVEL: 'warn',
    };
  }

  async close(): Promise<void> {
    await this.balancer.close();
    for (const { database, bus } of this.nodes) {
      await database.close();
      await bus.close();
    }
    await this.nats.close();
  }
}
