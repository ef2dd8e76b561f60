import { isDeepStrictEqual } from 'node:util';
import type { RunningServer } from '../../server/compose/start.ts';
import type { World } from './world.ts';

export interface Series {
  name: string;
  labels: Readonly<Record<string, string>>;
  value: number;
}

/** What Prometheus reads of a control plane. */
export class Scrape {
  readonly text: string;
  readonly series: readonly Series[];

  constructor(text: string, series: readonly Series[]) {
    this.text = text;
    this.series = series;
  }

  /** Each of its series together with the same ones of others. */
  with(others: readonly Scrape[], put: (name: string, values: readonly number[]) => number): Scrape {
    const together = this.series.map((own) => {
      const same = others.map(({ series }) =>
        series.find(({ name, labels }) => name === own.name && isDeepStrictEqual(labels, own.labels)),
      );
      return {
        ...own,
        value: put(
          own.name,
          [own, ...same.filter((one) => one !== undefined)].map(({ value }) => value),
        ),
      };
    });
    return new Scrape(this.text, together);
  }

  /** The value of the one series with this name and these labels, among others. */
  value(name: string, labels: Readonly<Record<string, string>> = {}): number | undefined {
    const found = this.series.filter(
      (each) => each.name === name && Object.entries(labels).every(([key, value]) => each.labels[key] === value),
    );
    if (found.length > 1) throw new Error(`${found.length} series of ${name} have the labels ${JSON.stringify(labels)}`);
    return found[0]?.value;
  }
}

export async function scrape(world: World): Promise<Scrape> {
  return scrapeOf(world.server);
}

/** Gauges of what one control plane has open. */
const OF_ONE: ReadonlySet<string> = new Set(['signalbox_forward_open_connections', 'signalbox_open_terminals']);

/** What all control planes of a world say, as Prometheus puts it together: counters are sums, and most gauges are the same at each (docs/monitoring.md). */
export async function scrapeAll(world: World): Promise<Scrape> {
  const [first, ...others] = await Promise.all(world.controlPlanes.map(scrapeOf));
  if (others.length === 0) return first!;
  const counters = new Set([...first!.text.matchAll(/^# TYPE (\w+) (?:counter|histogram)$/gm)].map(([, name]) => name));
  const isCounter = (name: string): boolean => counters.has(name) || counters.has(name.replace(/_(?:bucket|sum|count)$/, ''));
  return first!.with(others, (name, values) =>
    isCounter(name) || OF_ONE.has(name) ? values.reduce((sum, value) => sum + value, 0) : Math.max(...values),
  );
}

async function scrapeOf({ url, services }: RunningServer): Promise<Scrape> {
  const { token } = await services.credentials.createServiceToken('prometheus');
  const answer = await fetch(`${url}/internal/metrics`, { headers: { authorization: `Bearer ${token}` } });
  if (!answer.ok) throw new Error(`the metrics were answered with ${answer.status}`);
  const text = await answer.text();
  return new Scrape(
    text,
    text
      .split('\n')
      .filter((line) => line !== '' && !line.startsWith('#'))
      .map(readSeries),
  );
}

function readSeries(line: string): Series {
  const [, name, inside = '', value] = /^([\w:]+)(?:\{(.*)\})? (\S+)$/.exec(line)!;
  const labels = [...inside.matchAll(/(\w+)="((?:[^"\\]|\\.)*)"/g)].map(([, key, text]) => [key!, text!] as const);
  return { name: name!, labels: Object.fromEntries(labels), value: Number(value) };
}
