import type { Field } from './field.ts';
import { whileSaturated } from './load.ts';
import type { TerminalVisit } from './parts/terminal-client.ts';
import type { ProductPath } from './paths.ts';
import { BenchProcess } from './processes.ts';
import { milliseconds } from './report.ts';
import type { Row } from './report.ts';
import { interleave, median, quantile } from './statistics.ts';

/** Milliseconds. */
const BARS = { prompt: 1000, echo: 50, end: 1000 } as const;

/** A terminal through control plane, tunnel, agent and SSH, alone and beside a bulk transfer on the same agent. */
export async function terminalRows({ product, ms, rounds }: Field): Promise<Row[]> {
  const visit = (): Promise<TerminalVisit[]> => visitTerminals(product, ms);
  const [idle, busy] = (await interleave(rounds, [visit, () => whileSaturated(product, visit)])).map((samples) => samples.flat()) as [
    TerminalVisit[],
    TerminalVisit[],
  ];
  return [
    slowest('terminal: opening to the prompt, slowest', BARS.prompt, [idle, busy], ({ promptMs }) => promptMs),
    echoRow(idle, busy),
    slowest('terminal: an administrator ends it, slowest', BARS.end, [idle, busy], ({ endMs }) => endMs),
  ];
}

async function visitTerminals({ api: { url, apiKey, routerId } }: ProductPath, ms: number): Promise<TerminalVisit[]> {
  const client = await BenchProcess.start<TerminalVisit[]>('terminal-client', { url, apiKey, routerId, typedMs: ms });
  await client.process.stop();
  return client.result;
}

function echoRow(idle: readonly TerminalVisit[], busy: readonly TerminalVisit[]): Row {
  const p95 = (visits: readonly TerminalVisit[]): number => median(visits.map(({ echoMs }) => quantile(echoMs, 0.95)));
  const keys = busy.reduce((sum, { echoMs }) => sum + echoMs.length, 0);
  return {
    name: `terminal: a key to its echo while a forward is saturated, p95 to ${BARS.echo} ms`,
    ratio: p95(busy) / BARS.echo,
    bar: { at: 'most', value: 1 },
    detail: `p95 idle ${milliseconds(p95(idle))}, saturated ${milliseconds(p95(busy))} of ${keys} keys`,
  };
}

function slowest(
  name: string,
  barMs: number,
  [idle, busy]: [readonly TerminalVisit[], readonly TerminalVisit[]],
  of: (visit: TerminalVisit) => number,
): Row {
  const [alone, beside] = [idle, busy].map((visits) => Math.max(...visits.map(of))) as [number, number];
  return {
    name: `${name}, to ${barMs} ms`,
    ratio: alone / barMs,
    bar: { at: 'most', value: 1 },
    detail: `idle ${milliseconds(alone)}, beside a saturated forward ${milliseconds(beside)} (${idle.length} each)`,
  };
}
