import type { Signalbox } from '../client.ts';

/** The streams, environment and terminal of a command; those of the process in production. */
export interface Surroundings {
  stdout: (text: string) => void;
  stderr: (text: string) => void;
  /** Reads standard input to its end. */
  readInput: () => Promise<string>;
  env: Readonly<Record<string, string | undefined>>;
  /** Aborted by Ctrl-C. */
  signal: AbortSignal;
  /** Width of the terminal in characters; Infinity when the output is not a terminal. */
  columns: number;
  /** For commands that draw; undefined when the output is no terminal, or one that cannot move its cursor. */
  screen?: Screen | undefined;
  /** For a shell; undefined when input or output is no terminal. */
  terminal?: RawTerminal | undefined;
}

/** A terminal whose bytes pass through unchanged, Ctrl-C included. */
export interface RawTerminal {
  size: () => { columns: number; rows: number };
  /** @returns ends the subscription */
  onResize: (listener: () => void) => () => void;
  write: (bytes: Buffer) => void;
  /** Each byte at once and without echo. @returns gives the keyboard back */
  readBytes: (onBytes: (bytes: Buffer) => void) => () => void;
  /** Asks for one line of text. */
  ask: (question: string) => Promise<string>;
}

/** A terminal whose cursor can be moved. */
export interface Screen {
  size: () => { columns: number; rows: number };
  /** @returns ends the subscription */
  onResize: (listener: () => void) => () => void;
  /** Each key at once and without echo; Ctrl-C still ends the command. @returns gives the keyboard back */
  readKeys: (onKey: (key: string) => void) => () => void;
  hasColour: boolean;
}

/** Result of a command: one JSON value for programs, text for people. */
export interface Outcome {
  json: unknown;
  text: string;
  exitCode?: number;
}

export interface Option {
  /** Placeholder in the help: `--from CIDR`. Without it the option is a switch. */
  value?: string;
  help: string;
  required?: boolean;
}

export interface Context {
  signalbox: Signalbox;
  surroundings: Surroundings;
  /** `--json` was given. */
  json: boolean;
  /** Where waits of the client are printed. A command that draws puts them on its screen. */
  notices: { print: (text: string) => void };
}

/** One command for API users, as data for the parser and the help. */
export interface Command {
  /** As typed: `job submit`. */
  name: string;
  summary: string;
  /** `ROUTER` is required, `[SCRIPT]` is optional, `[PARAMETERS…]` takes all remaining words. */
  positionals: readonly string[];
  options: Readonly<Record<string, Option>>;
  /** What the summary has no room for, in the help: lines of at most 80 characters. */
  about?: string;
  /** Complete command lines without `signalbox`, for the help. A test parses each of them. */
  examples: readonly string[];
  run: (context: Context, input: Input) => Promise<Outcome>;
}

/** Wrong command line: the CLI prints the usage and exits with 2. */
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

  /** The n-th positional. The parser has checked the required ones. */
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
