import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';

const FOLDER = path.resolve(import.meta.dirname, '../simulator/everyday-scripts');

/** What is done and asked after the script has run, in order. */
export type EverydayStep =
  | { readonly kind: 'wait'; readonly ms: number }
  | { readonly kind: 'do'; readonly command: string }
  /** An expression that must be true. */
  | { readonly kind: 'check'; readonly expression: string }
  /** A line the script must have printed. */
  | { readonly kind: 'output'; readonly line: string }
  /** A part of a line of the router's log. */
  | { readonly kind: 'log'; readonly text: string }
  /** The beginning of the subject of a mail the router must have sent. */
  | { readonly kind: 'mail'; readonly subject: string }
  /** A wrong variant, and how the router's answer begins; `/…/` is a pattern. */
  | { readonly kind: 'refuse'; readonly command: string; readonly answer: RegExp };

export interface EverydayScript {
  readonly name: string;
  readonly source: string;
  /** Personalities it is written for. */
  readonly runsOn: readonly ('v6' | 'v7')[];
  readonly files: Readonly<Record<string, string>>;
  readonly mailServer: string | undefined;
  readonly steps: readonly EverydayStep[];
}

/** Reads the collection: each script carries in its comments what must come of it. */
export function readEverydayScripts(): EverydayScript[] {
  const names = readdirSync(FOLDER)
    .filter((name) => name.endsWith('.rsc'))
    .sort();
  return names.map((name) => readScript(name, readFileSync(path.join(FOLDER, name), 'utf8')));
}

function readScript(name: string, source: string): EverydayScript {
  const header = (word: string): string[] => [...source.matchAll(new RegExp(`^# ${word}: (.*)$`, 'gm'))].map((match) => match[1] ?? '');
  const runOn = header('run-on')[0];
  if (runOn === undefined || !['all', 'v6', 'v7'].includes(runOn)) throw new Error(`${name} does not say where it runs`);
  const files = header('file').map(
    (line) => [line.slice(0, line.indexOf('=')), line.slice(line.indexOf('=') + 1).replaceAll('\\n', '\n')] as const,
  );
  const steps = [...source.matchAll(/^#! (\w+) (.*)$/gm)].map(([, kind = '', rest = '']) => readStep(name, kind, rest));
  const runsOn = runOn === 'all' ? (['v6', 'v7'] as const) : [runOn as 'v6' | 'v7'];
  return { name, source, runsOn, files: Object.fromEntries(files), mailServer: header('mail-server')[0], steps };
}

function readStep(name: string, kind: string, rest: string): EverydayStep {
  if (kind === 'wait') return { kind, ms: waitOf(rest) };
  if (kind === 'do') return { kind, command: rest };
  if (kind === 'check') return { kind, expression: rest };
  if (kind === 'output') return { kind, line: rest };
  if (kind === 'log') return { kind, text: rest };
  if (kind === 'mail') return { kind, subject: rest };
  if (kind !== 'refuse') throw new Error(`${name}: unknown step ${kind}`);
  const cut = rest.lastIndexOf(' -> ');
  const wanted = rest.slice(cut + 4);
  const pattern = /^\/(.*)\/$/.exec(wanted)?.[1] ?? `^${wanted.replaceAll(/[.*+?^${}()|[\]\\]/g, String.raw`\$&`)}`;
  return { kind, command: rest.slice(0, cut), answer: new RegExp(pattern) };
}

const UNITS: Readonly<Record<string, number>> = { s: 1000, m: 60_000, h: 3_600_000 };

function waitOf(text: string): number {
  return Number(text.slice(0, -1)) * (UNITS[text.slice(-1)] ?? Number.NaN);
}
