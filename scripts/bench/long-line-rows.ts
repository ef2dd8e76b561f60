import type { Field } from './field.ts';
import { measureBytes } from './load.ts';
import type { Path } from './path.ts';
import type { Line } from './paths.ts';
import { megabytes } from './report.ts';
import type { Row } from './report.ts';
import { interleave, median } from './statistics.ts';

/** docs/benchmarks.md: a line of 50 ms there and back and 1 Gbit/s. */
const LINE: Line = { roundTripMs: 50, bytesPerSecond: 125_000_000 };
const BAR = 0.95;

/** Bulk bytes over a long line between control plane and agent, against one bare TCP connection and `ssh -R` over such a line. */
export async function longLineRows({ paths, targets, ms, rounds }: Field): Promise<Row[]> {
  const bare = await paths.bareLine(LINE);
  const forward = await paths.product({ tls: true, line: LINE });
  const ssh = await paths.ssh(LINE);
  const all: Path[] = [bare, forward, ...(ssh ? [ssh] : [])];
  const rows: Row[] = [];
  for (const direction of ['up', 'down'] as const) {
    const samples = await interleave(
      rounds,
      all.map((path) => () => measureBytes(path, targets, { direction, count: 1, ms })),
    );
    const [line, through, sshRate] = samples.map((of) => median(of.map((sample) => sample.bytesPerSecond)));
    const name = `bytes ${direction} over a line of 50 ms and 1 Gbit/s`;
    const detail = [line, through, sshRate]
      .flatMap((rate, i) => (rate === undefined ? [] : [`${all[i]!.name} ${megabytes(rate)}`]))
      .join(', ');
    rows.push({ name, ratio: through! / line!, bar: { at: 'least', value: BAR }, detail });
    if (sshRate !== undefined)
      rows.push({ name: `${name}, to ssh -R`, ratio: through! / sshRate, bar: { at: 'least', value: 1 }, detail: '' });
  }
  return rows;
}
