import type { CredentialsService } from '../access/credentials/service.ts';
import type { Config } from '../config.ts';
import type { Log } from '../platform/core/log.ts';
import type { Storage } from '../platform/storage/db.ts';
import type { SitesService } from '../fleet/sites/service.ts';
import type { InvitationsService, TeamsService } from '../access/teams/service.ts';

/** What the administration commands work with. They use the database directly. */
export interface Administration {
  config: Config;
  storage: Storage;
  teams: TeamsService;
  sites: SitesService;
  invitations: InvitationsService;
  auth: CredentialsService;
  /** Writes warnings to standard error. */
  log: Log;
}

/** Result of a command: one object for programs (`--json`), lines for people. */
export interface Result {
  json: Record<string, unknown>;
  lines: string[];
}

export interface Option {
  /** Placeholder in the help: `--team T`. Empty for a flag. */
  value: string;
  help: string;
  required?: boolean;
  choices?: readonly string[];
  /** Takes no value; read it with {@link Input.flag}. */
  flag?: boolean;
  /** Must be a number; read it with {@link Input.number}. */
  numeric?: boolean;
}

/** One administration command, as data for the parser and the help. */
export interface Command {
  /** As typed: `team create`. */
  name: string;
  summary: string;
  /** Names of the positional arguments, all required: `NAME`. */
  positionals: readonly string[];
  options: Readonly<Record<string, Option>>;
  run(administration: Administration, input: Input): Promise<Result>;
}

/** The command line, checked against the command. */
export class Input {
  readonly #positionals: ReadonlyMap<string, string>;
  readonly #options: ReadonlyMap<string, string>;

  constructor(positionals: ReadonlyMap<string, string>, options: ReadonlyMap<string, string>) {
    this.#positionals = positionals;
    this.#options = options;
  }

  /** A positional argument or required option. The parser has checked that it is present. */
  need(name: string): string {
    const value = this.#positionals.get(name) ?? this.#options.get(name);
    if (value === undefined) throw new UsageError(`${name} is missing`);
    return value;
  }

  option(name: string): string | undefined {
    return this.#options.get(name);
  }

  /** Whether a flag was given. */
  flag(name: string): boolean {
    return this.#options.has(name);
  }

  /** A numeric option. The parser has checked that it is a number. */
  number(name: string): number | undefined {
    const text = this.#options.get(name);
    return text === undefined ? undefined : Number(text);
  }
}

/** Wrong command line: the CLI prints the usage and exits with 2. */
export class UsageError extends Error {
  override readonly name = 'UsageError';
}
