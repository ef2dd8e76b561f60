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

  constructor(text: string) {
    this.text = text;
    this.series = text
      .split('\n')
      .filter((line) => line !== '' && !line.startsWith('#'))
      .map(readSeries);
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
  const { token } = await world.server.services.credentials.createServiceToken('prometheus');
  const answer = await fetch(`${world.server.url}/internal/metrics`, { headers: { authorization: `Bearer ${token}` } });
  if (!answer.ok) throw new Error(`the metrics were answered with ${answer.status}`);
  return new Scrape(await answer.text());
}

function readSeries(line: string): Series {
  const [, name, inside = '', value] = /^([\w:]+)(?:\{(.*)\})? (\S+)$/.exec(line)!;
  const labels = [...inside.matchAll(/(\w+)="((?:[^"\\]|\\.)*)"/g)].map(([, key, text]) => [key!, text!] as const);
  return { name: name!, labels: Object.fromEntries(labels), value: Number(value) };
}
