import { agentRows } from './agent-rows.ts';
import { campaignRows } from './campaign-rows.ts';
import { clusterRows } from './cluster-rows.ts';
import { commandRows } from './command-rows.ts';
import { consoleRows } from './console-rows.ts';
import { fleetRows } from './fleet-rows.ts';
import { historyRows } from './history-rows.ts';
import { handOverRows } from './hand-over-rows.ts';
import { jobRows } from './job-rows.ts';
import { listRows, listRowsOnPostgres } from './list-rows.ts';
import { longLineRows } from './long-line-rows.ts';
import type { Field, Scenario } from './field.ts';
import { measureBytes, measureConnections, measureEcho, whileSaturated } from './load.ts';
import type { BytesSample } from './load.ts';
import type { Path } from './path.ts';
import { megabytes, milliseconds } from './report.ts';
import type { Row } from './report.ts';
import { retentionRows } from './retention-rows.ts';
import { siteRows } from './site-rows.ts';
import { sshWayRows } from './ssh-way-rows.ts';
import { interleave, median, quantile } from './statistics.ts';
import { terminalRows } from './terminal-rows.ts';

/** The targets of docs/benchmarks.md. */
const BARS = { bytes: 0.9, bytesTls: 0.75, connections: 1, echo: 1.15, echoSaturated: 2.2 } as const;

/** The relay first, the forward second; an encrypted path is compared with encrypted ones. */
function measuredPaths({ relay, relayTls, product, productTls, ssh }: Field, tls: boolean): Path[] {
  if (!tls) return [relay, product];
  return [relay, productTls, relayTls, ...(ssh ? [ssh] : [])];
}

/** One more row where `ssh -R` was measured, as the last of the rates. */
function againstSsh(name: string, rates: number[]): Row[] {
  const [, forward, , ssh] = rates;
  if (forward === undefined || ssh === undefined) return [];
  return [{ name: `${name}, to ssh -R`, ratio: forward / ssh, bar: { at: 'least', value: 1 }, detail: '' }];
}

async function bytesRows(field: Field, tls: boolean): Promise<Row[]> {
  const rows: Row[] = [];
  for (const direction of ['up', 'down'] as const) {
    for (const count of [1, 16]) {
      const paths = measuredPaths(field, tls);
      const samples = await interleave(
        field.rounds,
        paths.map((path) => () => measureBytes(path, field.targets, { direction, count, ms: field.ms })),
      );
      const name = `bytes ${direction}, ${count} connection${count === 1 ? '' : 's'}${tls ? ', TLS on the tunnel' : ''}`;
      const bar = { at: 'least' as const, value: tls ? BARS.bytesTls : BARS.bytes };
      rows.push({ name, ratio: speed(samples[1]!) / speed(samples[0]!), bar, detail: describeBytes(paths, samples) });
      rows.push(...againstSsh(name, samples.map(speed)));
    }
  }
  return rows;
}

const speed = (samples: BytesSample[]): number => median(samples.map((sample) => sample.bytesPerSecond));

function describeBytes(paths: Path[], samples: BytesSample[][]): string {
  const cpu = (of: BytesSample[]): string => median(of.map((sample) => sample.cpuSecondsPerGigabyte)).toFixed(2);
  return paths.map((path, i) => `${path.name} ${megabytes(speed(samples[i]!))} ${cpu(samples[i]!)} CPU s/GB`).join(', ');
}

/**
 * Long-running programs are measured after warm-up: V8 has optimised a relay of thirty lines after a few thousand
 * connections, and a whole control plane after some twenty thousand.
 */
const WARM_UP_MS = 5000;

async function connectionRows(field: Field, tls: boolean): Promise<Row[]> {
  const rows: Row[] = [];
  const paths = measuredPaths(field, tls);
  for (const path of paths) await measureConnections(path, { parallel: 16, ms: WARM_UP_MS });
  for (const parallel of [1, 16]) {
    const samples = await interleave(
      field.rounds,
      paths.map((path) => () => measureConnections(path, { parallel, ms: field.ms })),
    );
    const [relay, forward] = [median(samples[0]!), median(samples[1]!)];
    const name = `new connections a second, ${parallel} at a time${tls ? ', TLS on the tunnel' : ''}`;
    rows.push({
      name,
      ratio: forward / relay,
      bar: { at: 'least', value: BARS.connections },
      detail: paths.map((path, i) => `${path.name} ${Math.round(median(samples[i]!))}`).join(', '),
    });
    rows.push(...againstSsh(name, samples.map(median)));
  }
  return rows;
}

async function echoRows(field: Field): Promise<Row[]> {
  const { relay, product, ms, rounds } = field;
  const samples = await interleave(rounds, [
    () => measureEcho(relay, { ms }),
    () => measureEcho(product, { ms }),
    () => whileSaturated(relay, () => measureEcho(relay, { ms })),
    () => whileSaturated(product, () => measureEcho(product, { ms })),
  ]);
  const [idleRelay, idle, busyRelay, busy] = samples.map((rounds) => median(rounds.map(median))) as [number, number, number, number];
  const p99 = (rounds: number[][]): string => milliseconds(median(rounds.map((times) => quantile(times, 0.99))));
  return [
    {
      name: 'echo of a small message',
      ratio: idle / idleRelay,
      bar: { at: 'most', value: BARS.echo },
      detail: `relay ${milliseconds(idleRelay)}, forward ${milliseconds(idle)} (p99 ${p99(samples[0]!)}, ${p99(samples[1]!)})`,
    },
    {
      name: 'echo while saturated, to idle',
      ratio: busy / idle,
      bar: { at: 'most', value: BARS.echoSaturated },
      detail: `forward ${milliseconds(busy)}, relay ${milliseconds(busyRelay)} = ${(busyRelay / idleRelay).toFixed(2)} times its idle`,
    },
  ];
}

export const scenarios: Scenario[] = [
  { name: 'bytes', about: 'bulk bytes against two plain relays', run: (field) => bytesRows(field, false) },
  { name: 'bytes-tls', about: 'the same with TLS on the tunnel', run: (field) => bytesRows(field, true) },
  { name: 'connections', about: 'new connections a second', run: (field) => connectionRows(field, false) },
  { name: 'connections-tls', about: 'the same with TLS on the tunnel', run: (field) => connectionRows(field, true) },
  { name: 'echo', about: 'round trip of a small message, idle and saturated', run: echoRows },
  { name: 'long-line', about: 'bulk bytes over a line of 50 ms and 1 Gbit/s', run: longLineRows },
  { name: 'commands', about: 'round trip of a command, idle and saturated', run: commandRows },
  { name: 'terminal', about: 'prompt, echo beside a saturated forward, and end of a terminal', run: terminalRows },
  { name: 'ssh-way', about: "bulk bytes through the router's sshd, and commands beside them", run: sshWayRows },
  { name: 'jobs', about: 'jobs accepted a second, durable', run: jobRows },
  { name: 'hand-over', about: 'an express job from the 200 to its script and its end', run: handOverRows },
  { name: 'campaign', about: 'one script on 2,000 routers', run: campaignRows },
  { name: 'lists', about: 'lists, searches and the event stream of a large team', run: listRows },
  { name: 'lists-postgres', about: 'the same lists and searches on PostgreSQL', run: listRowsOnPostgres },
  { name: 'console', about: 'the web application in Chromium, with 5,000 routers', run: consoleRows },
  { name: 'history', about: 'processor and disk that the history takes', run: historyRows },
  { name: 'retention', about: 'bytes of each kind of record that is kept for a time', runAlone: retentionRows },
  { name: 'agent', about: 'size of the agent', run: agentRows },
  { name: 'fleet', about: 'thousands of agents at `serve`, on both databases', runAlone: fleetRows },
  {
    name: 'cluster',
    about: 'three control planes on one PostgreSQL: what they add, and what happens when one dies',
    runAlone: clusterRows,
  },
  { name: 'site', about: 'a site of 5,000 devices and an agent with 50 routers', run: siteRows },
];
