import process from 'node:process';
import { setTimeout as pause } from 'node:timers/promises';
import { FleetProcess } from '../fleet/measure.ts';
import type { Row } from '../report.ts';
import type { BenchMembers } from './members.ts';
import { isReady } from './members.ts';

const READY_SECONDS = 30;
const GIVE_UP_MS = 120_000;
const LOOK_MS = 200;
/** How often one of the nodes is killed; each time takes some 40 s. */
const KILLS = Number(process.env['CLUSTER_KILLS'] ?? 3);
/** A tunnel that was ready for so long dials again at once (protocol/SPEC.md, Reconnecting). */
const STEADY_MS = 31_000;
const ROUTERS_PER_AGENT = 1;
/** Long enough for faults that would be opened by mistake: after 40 s (cluster-rows.ts). */
const FAULTS_MS = 45_000;

export async function connectFleet(members: BenchMembers): Promise<FleetProcess> {
  const fleet = await FleetProcess.start(members.url, members.credentials, ROUTERS_PER_AGENT);
  await allReady(members, fleet);
  return fleet;
}

/** @returns after how many milliseconds all agents were ready */
async function allReady(members: BenchMembers, fleet: FleetProcess): Promise<number> {
  const begun = performance.now();
  for (;;) {
    const { ready } = await fleet.ask('counts');
    if (ready === members.credentials.length) return performance.now() - begun;
    if (performance.now() - begun > GIVE_UP_MS) throw new Error(`only ${ready} of ${members.credentials.length} agents are ready`);
    await pause(LOOK_MS);
  }
}

/** One node after another is killed with its share of the agents. */
export async function killRows(members: BenchMembers, fleet: FleetProcess): Promise<Row[]> {
  const seconds: number[] = [];
  for (let round = 0; round < KILLS; round += 1) {
    await pause(STEADY_MS);
    const node = members.nodes[round % members.nodes.length]!;
    await node.kill();
    // Their sockets break a moment later.
    await leaves(members, fleet);
    seconds.push((await allReady(members, fleet)) / 1000);
    await node.again();
  }
  await pause(FAULTS_MS);
  const faults = Number(await members.query(`select count(*) from faults where type = 'agent_offline'`));
  const slowest = Math.max(...seconds);
  const agents = members.credentials.length;
  return [
    {
      name: `${agents} agents on three nodes, one killed ${KILLS} times: all ready elsewhere, to ${READY_SECONDS} s`,
      ratio: slowest / READY_SECONDS,
      bar: { at: 'most', value: 1 },
      detail: `${seconds.map((one) => one.toFixed(1)).join(', ')} s`,
    },
    { name: '… faults of agents that were only moving', ratio: faults, bar: { at: 'most', value: 0 }, detail: `${faults} in all` },
  ];
}

async function leaves(members: BenchMembers, fleet: FleetProcess): Promise<void> {
  const giveUpAt = performance.now() + 5000;
  while ((await fleet.ask('counts')).ready === members.credentials.length && performance.now() < giveUpAt) await pause(20);
}

const ROLL_EVERY_MS = 50;
/** A stop takes at most 80 s more than the drain for the balancer (docs/cluster.md). */
const STOPS_WITHIN_MS = 100_000;

/** Every node is restarted in turn, as for an upgrade, while somebody reads and asks routers through the balancer. */
export async function rollRows(members: BenchMembers, fleet: FleetProcess): Promise<Row[]> {
  const dialsBefore = (await fleet.ask('counts')).dials;
  const faultsBefore = Number(await members.query(`select count(*) from faults where type = 'agent_offline'`));
  const { data: routers } = await members.call<{ data: { id: string }[] }>('GET', '/api/routers?limit=100&fields=id');
  const failures = new Map<string, number>();
  let count = 0;
  const over = new AbortController();
  const under = new Set<Promise<void>>();
  const one = async (turn: number): Promise<void> => {
    const { id } = routers[turn % routers.length]!;
    const work =
      turn % 2 === 0
        ? members.call('GET', '/api/routers?limit=10')
        : members.call('POST', `/api/synchronous/${id}`, { command: '/system/identity/print', parameters: '' });
    await work.catch((error: unknown) => {
      // Without ids, so that what has one reason is counted together; long enough for what the answer says.
      const text = String(error)
        .replaceAll(/[\da-f]{8}-[\da-f-]{27}/g, 'ID')
        .slice(0, 300);
      failures.set(text, (failures.get(text) ?? 0) + 1);
    });
  };
  const load = (async () => {
    for (; !over.signal.aborted; count += 1) {
      const work: Promise<void> = one(count).finally(() => under.delete(work));
      under.add(work);
      await pause(ROLL_EVERY_MS);
    }
  })();
  for (const node of members.nodes) {
    await node.end(STOPS_WITHIN_MS);
    await node.again();
    await allReady(members, fleet);
    while (!(await isReady(node.url))) await pause(LOOK_MS);
    await pause(3000);
  }
  over.abort();
  await load;
  await Promise.all(under);
  const failed = [...failures.values()].reduce((sum, each) => sum + each, 0);
  const dials = ((await fleet.ask('counts')).dials - dialsBefore) / members.credentials.length;
  const faults = Number(await members.query(`select count(*) from faults where type = 'agent_offline'`)) - faultsBefore;
  return [
    {
      name: 'failed requests while three nodes are restarted in turn',
      ratio: failed,
      bar: { at: 'most', value: 0 },
      detail: `${failed} of ${count} ${[...failures].map(([text, times]) => `${times} x ${text}`).join('; ')}`.trim(),
    },
    { name: '… dials of an agent', ratio: dials, bar: { at: 'most', value: 2 }, detail: `${dials.toFixed(2)} on average` },
    { name: '… faults of agents that were only moving', ratio: faults, bar: { at: 'most', value: 0 }, detail: `${faults} in all` },
  ];
}
