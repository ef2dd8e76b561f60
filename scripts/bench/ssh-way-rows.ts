import { askedCommands, saturatedRow } from './command-rows.ts';
import type { SaturatedSamples } from './command-rows.ts';
import type { Field } from './field.ts';
import { HttpLoad } from './http-load.ts';
import { measureBytes, whileSaturated } from './load.ts';
import type { Path } from './path.ts';
import type { ProductPath } from './paths.ts';
import { megabytes } from './report.ts';
import type { Row } from './report.ts';
import { interleave, median } from './statistics.ts';

/** The measured path and its reference: `ssh -L` through the same sshd. */
interface Sides {
  product: ProductPath;
  tunnel: Path;
}

/**
 * Forwards through the router's SSH server. The agent's SSH client is JavaScript, unlike OpenSSH, so the throughput has no
 * target. The influence on commands has the same target as for every forward. Without sshd there are no rows.
 */
export async function sshWayRows(field: Field): Promise<Row[]> {
  const sides = await field.paths.sshWay();
  if (!sides) return [];
  return [await bytesRow(field, sides, 'up'), await bytesRow(field, sides, 'down'), await commandsRow(field, sides)];
}

async function bytesRow({ targets, ms, rounds }: Field, { product, tunnel }: Sides, direction: 'up' | 'down'): Promise<Row> {
  const samples = await interleave(
    rounds,
    [tunnel, product].map((path) => () => measureBytes(path, targets, { direction, count: 1, ms })),
  );
  const [plain, ours] = samples.map((of) => ({
    rate: median(of.map((sample) => sample.bytesPerSecond)),
    cpu: median(of.map((sample) => sample.cpuSecondsPerGigabyte)).toFixed(2),
  })) as [{ rate: number; cpu: string }, { rate: number; cpu: string }];
  return {
    name: `bytes ${direction} by the SSH way, to ssh -L`,
    ratio: ours.rate / plain.rate,
    bar: undefined,
    detail: `ssh -L ${megabytes(plain.rate)} ${plain.cpu} CPU s/GB, forward ${megabytes(ours.rate)} ${ours.cpu} CPU s/GB, sshd included in both`,
  };
}

async function commandsRow({ ms, rounds }: Field, { product, tunnel }: Sides): Promise<Row> {
  const http = new HttpLoad(product.api, 1);
  const asked = (): Promise<number[]> => askedCommands(http, product.api.routerId, ms);
  try {
    await asked();
    const samples = await interleave(rounds, [asked, () => whileSaturated(product, asked), () => whileSaturated(tunnel, asked)]);
    return saturatedRow(samples as SaturatedSamples, { forward: 'a forward by the SSH way', other: 'ssh -L' });
  } finally {
    http.close();
  }
}
