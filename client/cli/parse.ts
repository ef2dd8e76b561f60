import { parseArgs } from 'node:util';
import type { ProfileOptions } from '../config.ts';
import type { Command, Option } from './command.ts';
import { Input, UsageError } from './command.ts';

/** Options of every command. */
export const COMMON: Readonly<Record<string, Option>> = {
  server: { value: 'URL', help: 'control plane; default: from the profile' },
  key: { value: 'KEY', help: 'API key; default: from the profile' },
  profile: { value: 'FILE', help: 'profile file; default: ~/.config/signalbox/profile.json' },
  json: { help: 'print JSON for programs' },
  help: { help: 'print this help' },
};

export interface Parsed {
  command: Command;
  input: Input;
  profile: ProfileOptions;
  json: boolean;
  help: boolean;
}

/** Common options that take a value. */
const WITH_VALUE = new Set(Object.keys(COMMON).filter((name) => COMMON[name]!.value !== undefined));

/** Moves options in front of the command to the end: `--server X job list R` becomes `job list R --server X`. */
export function nameFirst(words: readonly string[]): string[] {
  const before: string[] = [];
  let rest = [...words];
  while (rest[0]?.startsWith('--')) {
    const name = rest[0].slice(2).split('=', 1)[0]!;
    const count = WITH_VALUE.has(name) && !rest[0].includes('=') ? 2 : 1;
    before.push(...rest.slice(0, count));
    rest = rest.slice(count);
  }
  return [...rest, ...before];
}

/** @throws UsageError that names the missing, unknown or superfluous word */
export function parseCommandLine(command: Command, words: readonly string[]): Parsed {
  const { values, positionals } = readWords(command, words);
  const options = new Map<string, string | true>();
  for (const name of Object.keys(command.options)) {
    const value = values[name];
    if (value !== undefined && value !== false) options.set(name, value);
  }
  const help = values['help'] === true;
  if (!help) checkComplete(command, positionals, options);
  return {
    command,
    input: new Input(positionals, options),
    profile: { server: textOf(values['server']), key: textOf(values['key']), profile: textOf(values['profile']) },
    json: values['json'] === true,
    help,
  };
}

function checkComplete(command: Command, positionals: readonly string[], options: ReadonlyMap<string, unknown>): void {
  const takesMore = command.positionals.at(-1)?.includes('…') === true;
  const missing = command.positionals.find((name, index) => !name.startsWith('[') && positionals[index] === undefined);
  if (missing !== undefined) throw new UsageError(`${missing} is missing`);
  const tooMuch = positionals[command.positionals.length];
  if (!takesMore && tooMuch !== undefined) throw new UsageError(`unexpected argument: ${tooMuch}`);
  for (const [name, option] of Object.entries(command.options)) {
    if (option.required === true && !options.has(name)) throw new UsageError(`--${name} is missing`);
  }
}

type Values = Record<string, string | boolean | undefined>;

function readWords(command: Command, words: readonly string[]): { values: Values; positionals: string[] } {
  const entries = Object.entries({ ...COMMON, ...command.options });
  const options = Object.fromEntries(
    entries.map(([name, { value }]) => [name, { type: value === undefined ? ('boolean' as const) : ('string' as const) }]),
  );
  try {
    return parseArgs({
      args: joinMinusValues(words, options),
      options: { ...options, help: { type: 'boolean', short: 'h' } },
      allowPositionals: true,
    });
  } catch (error) {
    throw new UsageError((error as Error).message);
  }
}

/** `--sort -since` as `--sort=-since`: the parser would ask the user to write it so. `-` alone is standard input. */
function joinMinusValues(words: readonly string[], options: Readonly<Record<string, { type: string }>>): string[] {
  const joined: string[] = [];
  for (const [index, word] of words.entries()) {
    if (word === '--') return [...joined, ...words.slice(index)];
    const before = /^--([\w-]+)$/.exec(joined.at(-1) ?? '')?.[1];
    const isValue = before !== undefined && Object.hasOwn(options, before) && options[before]!.type === 'string';
    if (isValue && /^-[^-]/.test(word)) joined.push(`${joined.pop()}=${word}`);
    else joined.push(word);
  }
  return joined;
}

function textOf(value: string | boolean | undefined): string | undefined {
  return typeof value === 'string' ? value : undefined;
}
