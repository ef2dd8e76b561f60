import type { Signalbox } from '../client.ts';

/** Where a command writes to and reads from; the process's own in production. */
export interface Surroundings {
  stdout: (text: string) => void;
  stderr: (text: string) => void;
  /** All of the standard input. */
  readInput: () => Promise<string>;
  env: Readonly<Record<string, string | undefined>>;
  /** Aborted by Ctrl-C. */
  signal: AbortSignal;
  /** Characters of a line of the terminal. */
  columns: number;
}

/** What a command came to: one JSON value for programs, text for people. */
export interface Outcome {
  json: unknown;
  text: string;
  exitCode?: number;
}

export interface Option {
  /** Shown in the help: `--from CIDR`; a switch when missing. */
  value?: string;
  help: string;
  required?: boolean;
}

export interface Context {
  signalbox: Signalbox;
  surroundings: Surroundings;
  /** True when programs read the output. */
  json: boolean;
}

/** One command for API users, as data: parsing, help and refusals come from this. */
export interface Command {
  /** As typed: `job submit`. */
  name: string;
  summary: string;
  /** `ROUTER` is needed, `[SCRIPT]` not; `[PARAMETERS…]` takes all that is left. */
  positionals: readonly string[];
  options: Readonly<Record<string, Option>>;
  /** Whole command lines without `signalbox`, for the help; a test parses each of them. */
  examples: readonly string[];
  run: (context: Context, input: Input) => Promise<Outcome>;
}

/** The command line is wrong: the usage is shown and the exit code is 2. */
export class UsageError extends Error {
  override readonly name = 'UsageError';
}

/** The command line, checked against the command. */
export class Input {
  readonly #positionals: readonly string[];
  readonly #options: ReadonlyMap<string, string | true>;

  constructor(positionals: readonly string[], options: ReadonlyMap<string, string | true>) {
    this.#positionals = positionals;
    this.#options = options;
  }

  /** The n-th positional; the parser has made sure of those that are needed. */
  at(index: number): string {
    const value = this.#positionals[index];
    if (value === undefined) throw new UsageError('an argument is missing');
    return value;
  }

  optional(index: number): string | undefined {
    return this.#positionals[index];
  }

  from(index: number): readonly string[] {
    return this.#positionals.slice(index);
  }

  option(name: string): string | undefined {
    const value = this.#options.get(name);
    return value === true ? undefined : value;
  }

  isOn(name: string): boolean {
    return this.#options.has(name);
  }

  /** @throws UsageError unless it is a whole number */
  number(name: string): number | undefined {
    const text = this.option(name);
    if (text === undefined) return undefined;
    if (!/^\d{1,9}$/.test(text)) throw new UsageError(`--${name} must be a whole number`);
    return Number(text);
  }
}
