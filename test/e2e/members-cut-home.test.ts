import type net from 'node:net';
import { afterEach, describe, expect, test } from 'vitest';
import { postgres } from '../harness/cluster/cluster-world.ts';
import { closeOf, ForwardMembers, isOpen, talk } from '../harness/cluster/forward-members.ts';
import { startMembers } from '../harness/cluster/members.ts';
import { clusterSettings } from '../harness/cluster/settings.ts';
import { hasNats } from '../harness/nats-server.ts';
import { postgresSocket } from '../harness/postgres-server.ts';
import { StallProxy } from '../harness/stall-proxy.ts';
import { waitUntil } from '../harness/wait-until.ts';
import type { RunningServer } from '../../server/compose/start.ts';

/** A control plane that reaches neither the database nor the bus, and does not know it yet. */

/** CLUSTER: bar 6. */
const NOTHING_PASSES_AFTER_MS = 1000;
/** It closes its doors 30 s after the last beat that it could store (CLUSTER: section 4). A busy machine takes some more. */
const HOME_CLOSES_AFTER_MS = 35_000;

describe.skipIf(!postgres || !hasNats())('a forward whose home is cut off', () => {
  const closers: (() => Promise<void>)[] = [];
  afterEach(async () => {
    for (const close of closers.splice(0).toReversed()) await close();
  });

  test('lets nothing through a second after another control plane has revoked it', async () => {
    const { members, home, first, second, lines } = await withLines();
    const forward = await members.create(first);
    expect(await members.home(forward.id)).toBe(home);
    await members.moveAgent(second);
    const client = await waitUntil('the way is open again', () => talk(forward.port).catch(() => undefined));
    const echoed = lastEcho(client);

    for (const line of lines) line.stall();
    client.write('still');
    await waitUntil('the home carries on as before', () => echoed.last > 0);
    expect(await members.revoke(first, forward.id)).toBe(204);
    const revokedAt = performance.now();
    const knocking = setInterval(() => {
      client.write('knock');
      void talk(forward.port).then(
        () => (echoed.last = performance.now()),
        () => undefined,
      );
    }, 50);
    try {
      await waitUntil('the time is over in which something may pass', () => performance.now() - revokedAt > 5 * NOTHING_PASSES_AFTER_MS);
    } finally {
      clearInterval(knocking);
    }
    expect(echoed.last - revokedAt).toBeLessThan(NOTHING_PASSES_AFTER_MS);
    mend(lines);
  });

  test('is closed by its home within 35 s when the agent, too, has only that one', async () => {
    const { members, home, first, lines } = await withLines();
    const forward = await members.create(first);
    expect(await members.home(forward.id)).toBe(home);
    const closed = closeOf(await talk(forward.port));
    const cutAt = performance.now();
    for (const line of lines) line.stall();
    expect(await members.revoke(first, forward.id)).toBe(204);
    await closed;
    await waitUntil('the port is closed', async () => !(await isOpen(forward.port)));
    expect(performance.now() - cutAt).toBeLessThan(HOME_CLOSES_AFTER_MS);
    mend(lines);
  });

  /** Three control planes: lines of the third one can be cut, and the agent has its tunnel with it. */
  async function withLines() {
    const cluster = await startMembers(closers, { members: 2 });
    const [first, second] = cluster.nodes as [RunningServer, RunningServer];
    const { lines, settings } = await throughLines(first.services.config.databaseUrl, new URL(cluster.nats.url));
    const home = await cluster.world.startMember({ ...(await clusterSettings(cluster.nats)), ...settings });
    closers.push(() => home.close());
    const members = await ForwardMembers.of({ ...cluster, nodes: [first, second, home] }, closers);
    await members.moveAgent(home);
    return { members, home, first, second, lines };
  }

  /** Lines to the database and the bus that can be cut, and the settings of whoever uses them. */
  async function throughLines(databaseUrl: string, nats: URL): Promise<{ lines: StallProxy[]; settings: Record<string, string> }> {
    const { pathname, searchParams } = new URL(databaseUrl);
    const database = await StallProxy.start({ path: postgresSocket(searchParams.get('host') ?? '') });
    const bus = await StallProxy.start({ host: nats.hostname, port: Number(nats.port) });
    closers.push(
      () => database.close(),
      () => bus.close(),
    );
    const settings = {
      SIGNALBOX_DATABASE_URL: `postgres://signalbox@127.0.0.1:${database.port}${pathname}`,
      SIGNALBOX_BUS_URL: `nats://127.0.0.1:${bus.port}`,
    };
    return { lines: [database, bus], settings };
  }
});

/** What was on its way is lost: the home connects anew, and can be closed. */
function mend(lines: readonly StallProxy[]): void {
  for (const line of lines) {
    line.flow();
    line.cut();
  }
}

/** When the last bytes came back, on the clock of `performance.now`. */
function lastEcho(client: net.Socket): { last: number } {
  const echoed = { last: 0 };
  client.on('data', () => (echoed.last = performance.now()));
  return echoed;
}
