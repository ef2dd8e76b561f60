import { connectRouterOsApi } from '../../agent/routers/routeros-api/index.ts';
import { HttpLoad } from './http-load.ts';
import { whileSaturated } from './load.ts';
import { BENCH_LOGIN } from './parts/simulator.ts';
import { milliseconds } from './report.ts';
import type { Row } from './report.ts';
import type { Field } from './field.ts';
import { interleave, median, quantile } from './statistics.ts';

/** The targets of docs/benchmarks.md. */
const ADDED_MS = 1;
const P99_UNDER_LOAD = 2;

/** Warm-up rounds of one sample's length each, until the JIT compiler has finished. */
const WARM_UP_ROUNDS = 4;

const BODY = JSON.stringify({ command: '/system/identity/print', parameters: '' });

/** The latency that control plane, tunnel and agent add to a command, alone and beside a bulk transfer on the same agent. */
export async function commandRows({ product, relay, ms, rounds }: Field): Promise<Row[]> {
  const http = new HttpLoad(product.api, 1);
  const deadline = { timeoutMs: 10_000 };
  const router = await connectRouterOsApi({ host: '127.0.0.1', port: product.routerApiPort, ...BENCH_LOGIN, deadline });
  const direct = (): Promise<number[]> => repeat(ms, () => router.command({ path: '/system/identity/print', words: [] }, deadline));
  const asked = (): Promise<number[]> => askedCommands(http, product.api.routerId, ms);
  try {
    for (let i = 0; i < WARM_UP_ROUNDS; i += 1) await asked();
    const idle = await interleave(rounds, [direct, asked]);
    const busy = await interleave(rounds, [asked, () => whileSaturated(product, asked), () => whileSaturated(relay, asked)]);
    return [addedRow(idle as [number[][], number[][]]), saturatedRow(busy as SaturatedSamples, { forward: 'a forward', other: 'relay' })];
  } finally {
    http.close();
    await router.close();
  }
}

function addedRow([direct, asked]: [number[][], number[][]]): Row {
  const [fast, slow] = [median(direct.map(median)), median(asked.map(median))];
  return {
    name: 'round trip added to a command, in milliseconds',
    ratio: slow - fast,
    bar: { at: 'most', value: ADDED_MS },
    detail: `router's API directly ${milliseconds(fast)}, through HTTP, tunnel and agent ${milliseconds(slow)} (p50)`,
  };
}

/** Milliseconds of each command in each round: idle, beside a saturated forward, and beside a saturated plain relay. */
export type SaturatedSamples = [number[][], number[][], number[][]];

/**
 * A saturated pair of plain relays shows the influence of the machine: on two cores, the sender, both hops and the reader
 * compete with the commands, whatever carries the bytes.
 */
export function saturatedRow([idle, busy, beside]: SaturatedSamples, { forward, other }: { forward: string; other: string }): Row {
  const p99 = (rounds: number[][]): number => median(rounds.map((times) => quantile(times, 0.99)));
  return {
    name: `p99 of commands while ${forward} is saturated`,
    ratio: p99(busy) / p99(idle),
    bar: { at: 'most', value: P99_UNDER_LOAD },
    detail: `idle ${milliseconds(p99(idle))}, saturated ${milliseconds(p99(busy))}, beside a saturated ${other} ${milliseconds(p99(beside))}`,
  };
}

/** Commands through HTTP, tunnel and agent, one after the other for `ms`. */
export function askedCommands(http: HttpLoad, routerId: string, ms: number): Promise<number[]> {
  return repeat(ms, () => ask(http, routerId));
}

async function ask(http: HttpLoad, routerId: string): Promise<void> {
  const status = await http.post(`/api/synchronous/${routerId}`, BODY);
  if (status !== 200) throw new Error(`a command was answered with ${status}`);
}

/** Milliseconds of each call, one after the other for `ms`. */
async function repeat(ms: number, call: () => Promise<unknown>): Promise<number[]> {
  const times: number[] = [];
  const endAt = performance.now() + ms;
  while (performance.now() < endAt) {
    const before = performance.now();
    await call();
    times.push(performance.now() - before);
  }
  return times;
}
