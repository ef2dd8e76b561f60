import type { Chance } from '../jobs/random.ts';
import type { Action } from './breaker.ts';
import type { ChaosCluster } from './chaos-cluster.ts';
import type { ChaosWorld } from './chaos-world.ts';
import type { Line } from './line.ts';

/** A control plane is taken for dead after 10 s: some faults are shorter, some longer. */
const LONG_MS = { least: 5000, most: 90_000 };
const DOWN_MS = { least: 0, most: 20_000 };
const CUT_MS = { least: 500, most: 30_000 };
const BUS_AWAY_MS = { least: 0, most: 12_000 };

interface Range {
  least: number;
  most: number;
}

/** Faults of several control planes, and of what is between them. */
export function clusterActions(world: ChaosWorld, cluster: ChaosCluster, chance: Chance): Action[] {
  const wait = ({ least, most }: Range): Promise<void> => new Promise((resolve) => setTimeout(resolve, chance.int(least, most)));
  const cutOff = async (line: Line): Promise<void> => {
    line.block();
    await wait(CUT_MS);
    line.unblock();
  };
  const nodes = cluster.nodes.flatMap((node, index): Action[] => {
    const target = `server ${index}`;
    const server = world.servers[index]!;
    const killed = async (): Promise<void> => {
      await server.kill();
      await wait(DOWN_MS);
      server.start();
    };
    const ended = async (): Promise<void> => {
      await server.stop();
      server.start();
    };
    const frozen = async (): Promise<void> => {
      server.signal('SIGSTOP');
      await wait(LONG_MS);
      server.signal('SIGCONT');
    };
    return [
      { weight: 2, name: 'server killed', target, work: killed },
      { weight: 2, name: 'server stopped and continued', target, work: frozen },
      { weight: 1, name: 'server ended and started', target, work: ended },
      { weight: 1.5, name: 'server cut off from the database', target: `database ${index}`, work: () => cutOff(node.database) },
      { weight: 1, name: 'connections to the database reset', target: `database ${index}`, work: async () => node.database.cut() },
      { weight: 1.5, name: 'server cut off from the bus', target: `bus ${index}`, work: () => cutOff(node.bus) },
      { weight: 1, name: 'connection to the bus reset', target: `bus ${index}`, work: async () => node.bus.cut() },
    ];
  });
  const killedBus = async (): Promise<void> => {
    await cluster.nats.kill();
    await wait(BUS_AWAY_MS);
    await cluster.nats.resume();
  };
  const frozenBus = async (): Promise<void> => {
    cluster.nats.freeze();
    await wait(BUS_AWAY_MS);
    cluster.nats.unfreeze();
  };
  return [
    ...nodes,
    { weight: 1, name: 'nats-server restarted', target: 'bus', work: killedBus },
    { weight: 1, name: 'nats-server stopped and continued', target: 'bus', work: frozenBus },
  ];
}
