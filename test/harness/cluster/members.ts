import type { RunningServer } from '../../../server/compose/start.ts';
import { NatsServer } from '../nats-server.ts';
import { World } from '../world.ts';
import type { WorldOptions } from '../world.ts';
import { postgres } from './cluster-world.ts';
import { clusterSettings } from './settings.ts';

/**
 * Several control planes in this process on one PostgreSQL with a real nats-server: `world.server` is the first. The agent dials that one;
 * `world.startAgent({ server: nodes[1].url })` after `world.agent.close()` takes it to another.
 */
export interface ClusterOfMembers {
  world: World;
  nats: NatsServer;
  nodes: RunningServer[];
}

/**
 * @param closers called by the test at its end, the last one first
 * @param perMember settings of one member, in their order
 */
export async function startMembers(
  closers: (() => Promise<void>)[],
  {
    members = 2,
    server = {},
    perMember = [],
    natsLines = [],
    ...options
  }: Omit<WorldOptions, 'databaseUrl'> & { members?: number; perMember?: Record<string, string>[]; natsLines?: string[] } = {},
): Promise<ClusterOfMembers> {
  const { url: databaseUrl } = await postgres!.createMigrated();
  const nats = await NatsServer.start(natsLines);
  closers.push(() => nats.close());
  const world = await World.start({ ...options, databaseUrl, server: { ...(await clusterSettings(nats)), ...server, ...perMember[0] } });
  closers.push(() => world.close());
  const nodes = [world.server];
  while (nodes.length < members) {
    const node = await world.startMember({ ...(await clusterSettings(nats)), ...perMember[nodes.length] });
    closers.push(() => node.close());
    nodes.push(node);
  }
  return { world, nats, nodes };
}
