import { beforeEach, expect, test } from 'vitest';
import { Rebalance } from '../../../server/compose/rebalance.ts';
import { Listeners } from '../../../server/platform/core/listeners.ts';
import type { RequestHolder } from '../../../server/platform/tunnel/registry.ts';
import type { FakeTunnelSocket } from '../../harness/fake-tunnel-socket.ts';
import { ManualClock } from '../../harness/manual-clock.ts';
import { RecordedLog } from '../../harness/recorded-log.ts';
import { settle, TunnelBench } from '../../harness/tunnel-bench.ts';

const AGENTS = 150;

/** The clock of the tunnels stands still: nobody answers their pings. */
let bench: TunnelBench;
let clock: ManualClock;
let sockets: FakeTunnelSocket[];
let rebalance: Rebalance;
let log: RecordedLog;
let changes: Listeners<unknown>;
/** Agents of the only other control plane. */
let others: number[] | undefined;

beforeEach(async () => {
  bench = new TunnelBench();
  sockets = [];
  for (let at = 0; at < AGENTS; at += 1) sockets.push(await connected(bench.sessions.add().agentId));
  clock = new ManualClock();
  log = new RecordedLog();
  changes = new Listeners();
  others = [0];
  const requests: RequestHolder = { leaves: () => undefined, isOnItsWay: () => false, announce: () => undefined };
  rebalance = new Rebalance({ clock, log, tunnels: bench.registry, requests, others: () => others, changes });
  rebalance.start();
});

/** Its tunnel is ready. */
async function connected(agentId: string): Promise<FakeTunnelSocket> {
  const socket = bench.connect(agentId);
  socket.say(bench.hello({ last_epoch: bench.sessions.agents.get(agentId)!.confirmed }));
  await settle();
  bench.sayReady(socket);
  await settle();
  return socket;
}

async function pass(seconds: number): Promise<void> {
  for (let second = 0; second < seconds; second += 1) {
    clock.advance(1000);
    await settle();
  }
}

const gone = (): number => sockets.filter((socket) => socket.last('goaway') !== undefined).length;

test('gives five agents a second to the one that has none, a minute after its start, until both have about as many', async () => {
  await pass(59);
  expect(gone()).toBe(0);
  await pass(2);
  expect(gone()).toBe(10);
  expect(sockets[0]!.last('goaway')).toMatchObject({ reason: 'restart', reconnect_after_ms: 0 });
  for (let second = 0; second < 40; second += 1) {
    others = [gone()];
    await pass(1);
  }
  expect(gone()).toBeGreaterThan(65);
  expect(gone()).toBeLessThanOrEqual(75);
  expect(log.lines.map(({ message }) => message)).toContain('the control planes have about as many agents each');
});

test('waits a minute after a member has come or gone', async () => {
  await pass(50);
  changes.publish([]);
  await pass(59);
  expect(gone()).toBe(0);
  await pass(2);
  expect(gone()).toBeGreaterThan(0);
});

test('gives none while it drains, or is not counted', async () => {
  others = undefined;
  await pass(200);
  expect(gone()).toBe(0);
});

test('an agent that was asked something stays', async () => {
  const [, first, busy] = bench.sessions.agents.keys();
  const params = { router: 'one', hardware_id: 'HW1', path: '/ip/address/print', words: [] };
  const asked = bench.registry.request(busy!, 'command', params, { timeoutMs: 600_000 }).catch((error: unknown) => error);
  await pass(90);
  expect(bench.registry.isConnected(busy!)).toBe(true);
  expect(bench.registry.isConnected(first!)).toBe(false);
  await bench.registry.close();
  await asked;
});

test('rests for an hour and says so when the agents come back', async () => {
  let back = 0;
  for (let second = 0; second < 90; second += 1) {
    await pass(1);
    for (const socket of sockets.filter(({ session, closed }) => closed !== undefined && session !== undefined)) {
      const { agentId } = socket.session!.identity;
      socket.session!.onClosed();
      socket.session = undefined;
      back += 1;
      sockets.push(await connected(agentId));
    }
  }
  expect(back).toBe(100);
  expect(log.lines.at(-1)?.message).toContain('the load balancer does not lead them there');
});
