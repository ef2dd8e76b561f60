/** The numbers of a version, and what kind of release it is: a beta comes before a release candidate, and that before the release. */
interface Version {
  numbers: number[];
  stage: number;
  round: number;
}

const STAGES = { alpha: 0, beta: 1, rc: 2, release: 3 };
const VERSION = /^(\d+(?:\.\d+)*)(?:(alpha|beta|rc)(\d+)?)?/;

function read(text: string): Version | undefined {
  const [, numbers, stage, round] = VERSION.exec(text.trim().toLowerCase()) ?? [];
  if (numbers === undefined) return undefined;
  return { numbers: numbers.split('.').map(Number), stage: STAGES[(stage ?? 'release') as keyof typeof STAGES], round: Number(round ?? 0) };
}

/** Negative, zero or positive, as RouterOS counts: 7.9 < 7.15beta2 < 7.15rc1 < 7.15. A text that is no version comes first. */
export function compareVersions(one: string, other: string): number {
  const [a, b] = [read(one), read(other)];
  if (!a || !b) return Number(a !== undefined) - Number(b !== undefined);
  for (let index = 0; index < Math.max(a.numbers.length, b.numbers.length); index += 1) {
    const difference = (a.numbers[index] ?? 0) - (b.numbers[index] ?? 0);
    if (difference !== 0) return difference;
  }
  return a.stage - b.stage || a.round - b.round;
}

/**
 * `<7.15`, `<=7.15`, `>7.15`, `>=7.10`, `=7.18` exactly, or `7.18` with 7.18.1 and its betas: the same words as the interface's filter
 * (docs/lists.md).
 */
export function matchesVersion(version: string, wanted: string): boolean {
  const [, sign = '', than = ''] = /^([<>]=?|=)?(.*)$/.exec(wanted)!;
  if (sign === '') return begins(version, than);
  if (read(version) === undefined || read(than) === undefined) return false;
  const difference = compareVersions(version, than);
  if (sign === '=') return difference === 0;
  if (sign === '<') return difference < 0;
  if (sign === '>') return difference > 0;
  return sign === '<=' ? difference <= 0 : difference >= 0;
}

function begins(version: string, beginning: string): boolean {
  const [a, b] = [read(version), read(beginning)];
  if (!a || !b) return false;
  if (b.stage !== STAGES.release) return compareVersions(version, beginning) === 0;
  return b.numbers.every((number, index) => (a.numbers[index] ?? 0) === number);
}
