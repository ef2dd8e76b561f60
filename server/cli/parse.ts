import { parseArgs } from 'node:util';
import { type Command, Input, type Option, UsageError } from './command.ts';

export interface Parsed {
  input: Input;
  json: boolean;
}

/**
 * Checks the words after a command's name against the command.
 * @throws UsageError that names the missing, unknown or superfluous word
 */
export function parseCommandLine(command: Command, words: readonly string[]): Parsed {
  const { values, positionals } = readWords(command, words);
  const [tooMuch] = positionals.slice(command.positionals.length);
  if (tooMuch !== undefined) throw new UsageError(`unexpected argument: ${tooMuch}`);
  const missing = command.positionals[positionals.length];
  if (missing !== undefined) throw new UsageError(`${missing} is missing`);
  const options = new Map<string, string>();
  for (const [name, option] of Object.entries(command.options)) {
    const value = option.flag === true && values[name] === true ? '' : values[name];
    if (typeof value !== 'string') {
      if (option.required) throw new UsageError(`--${name} is missing`);
      continue;
    }
    checkValue(name, option, value);
    options.set(name, value);
  }
  const named = new Map(command.positionals.map((name, index) => [name, positionals[index]!]));
  return { input: new Input(named, options), json: values['json'] === true };
}

function checkValue(name: string, { choices, numeric }: Option, value: string): void {
  if (choices && !choices.includes(value)) throw new UsageError(`--${name} must be one of: ${choices.join(', ')}`);
  // Number('') is 0.
  if (numeric && (value.trim() === '' || !Number.isFinite(Number(value)))) throw new UsageError(`--${name} must be a number`);
}

function readWords(
  command: Command,
  words: readonly string[],
): { values: Record<string, string | boolean | undefined>; positionals: string[] } {
  const options = Object.fromEntries(
    Object.entries(command.options).map(([name, { flag }]) => [name, { type: flag === true ? ('boolean' as const) : ('string' as const) }]),
  );
  try {
    return parseArgs({
      args: joinNegativeNumbers(words),
      options: { ...options, json: { type: 'boolean' as const }, help: { type: 'boolean' as const, short: 'h' } },
      allowPositionals: true,
    });
  } catch (error) {
    throw new UsageError((error as Error).message);
  }
}

/** Allows `--longitude -3.7`: parseArgs would read the negative number as an option. */
function joinNegativeNumbers(words: readonly string[]): string[] {
  const joined: string[] = [];
  for (const word of words) {
    const before = joined.at(-1);
    if (/^-[0-9.]/.test(word) && before?.startsWith('--') && !before.includes('=')) joined[joined.length - 1] = `${before}=${word}`;
    else joined.push(word);
  }
  return joined;
}
