import { CredentialsService } from '../access/credentials/service.ts';
import { loadConfig } from '../config.ts';
import { systemClock } from '../platform/core/clock.ts';
import { AppError } from '../platform/core/errors.ts';
import type { Log } from '../platform/core/log.ts';
import { migrate } from '../platform/storage/migrate.ts';
import { openStorage } from '../platform/storage/open.ts';
import { InvitationsService } from '../access/teams/invitations/service.ts';
import { TeamsService } from '../access/teams/service.ts';
import { SitesService } from '../fleet/sites/service.ts';
import { SERVER_VERSION } from '../version.ts';
import { type Command, type Input, type Result, UsageError } from './command.ts';
import { commands } from './commands.ts';
import { examine, findingsText } from './doctor/index.ts';
import { commandHelp, doctorHelp, familyHelp, overview, serveHelp } from './help.ts';
import { parseCommandLine } from './parse.ts';
import { serve } from './serve.ts';

/** The streams and settings of a command; those of the process in production. */
export interface Surroundings {
  stdout: (text: string) => void;
  stderr: (text: string) => void;
  /** A person reads `stdout` as it is written. */
  isTerminal?: boolean;
  env?: Record<string, string | undefined>;
}

/** Exit codes: scripts can tell a wrong command line from a failure. */
const DONE = 0;
const FAILED = 1;
const WRONG_USAGE = 2;

/** Runs `signalbox` with these words. @returns the exit code; after `serve` the process keeps running */
export async function runCli(words: readonly string[], surroundings: Surroundings): Promise<number> {
  try {
    return await dispatch(words, surroundings);
  } catch (error) {
    if (error instanceof UsageError) {
      surroundings.stderr(`signalbox: ${error.message}\n`);
      return WRONG_USAGE;
    }
    surroundings.stderr(`signalbox: ${describe(error)}\n`);
    return FAILED;
  }
}

/** The messages of our own errors and of system errors (a port in use) are enough; for others the stack is needed too. */
function describe(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  if (error instanceof AppError) {
    const cause = error.code === 'unavailable' && error.cause instanceof Error ? `: ${error.cause.message}` : '';
    return `${error.message}${cause}`;
  }
  return 'syscall' in error ? error.message : (error.stack ?? error.message);
}

async function dispatch(words: readonly string[], surroundings: Surroundings): Promise<number> {
  const [first] = words;
  if (first === undefined || first === 'help' || first.startsWith('-')) return general(first, surroundings);
  const wantsHelp = words.some((word) => word === '--help' || word === '-h');
  if (first === 'serve') return serveCommand(words, wantsHelp, surroundings);
  if (first === 'doctor') return doctorCommand(words, wantsHelp, surroundings);
  const command = commands.find(({ name }) => isCalled(name, words));
  if (command === undefined) return unknown(words, wantsHelp, surroundings);
  if (wantsHelp) return print(surroundings, commandHelp(command));
  return administer(command, words.slice(command.name.split(' ').length), surroundings);
}

function isCalled(name: string, words: readonly string[]): boolean {
  return name.split(' ').every((part, index) => words[index] === part);
}

function print({ stdout }: Surroundings, text: string): number {
  stdout(text);
  return DONE;
}

function general(first: string | undefined, surroundings: Surroundings): number {
  if (first === '--version' || first === '-V') return print(surroundings, `signalbox ${SERVER_VERSION}\n`);
  if (first === '--help' || first === '-h' || first === 'help') return print(surroundings, overview(commands));
  surroundings.stderr(overview(commands));
  return WRONG_USAGE;
}

/** `signalbox key` or `signalbox key --help`: lists the commands that begin with the word. */
function unknown(words: readonly string[], wantsHelp: boolean, surroundings: Surroundings): number {
  const family = commands.filter(({ name }) => name.startsWith(`${words[0]} `));
  if (family.length === 0) {
    surroundings.stderr(`signalbox: unknown command: ${words.join(' ')}\n\n${overview(commands)}`);
    return WRONG_USAGE;
  }
  if (wantsHelp) return print(surroundings, familyHelp(words[0]!, family));
  const second = words[1]?.startsWith('-') === false ? `unknown command: ${words[0]} ${words[1]}` : `${words[0]} needs a command`;
  surroundings.stderr(`signalbox: ${second}\n\n${familyHelp(words[0]!, family)}`);
  return WRONG_USAGE;
}

async function serveCommand(words: readonly string[], wantsHelp: boolean, surroundings: Surroundings): Promise<number> {
  if (wantsHelp) return print(surroundings, serveHelp());
  if (words.length > 1) throw new UsageError(`unexpected argument: ${words[1]}\n\n${serveHelp()}`);
  const { stdout, stderr, isTerminal } = surroundings;
  await serve(await loadConfig(surroundings.env), { complain: stderr, announce: isTerminal === true ? stdout : undefined });
  return DONE;
}

async function doctorCommand(words: readonly string[], wantsHelp: boolean, { env, stdout, stderr }: Surroundings): Promise<number> {
  if (wantsHelp) return print({ stdout, stderr }, doctorHelp());
  const [, ...rest] = words;
  const json = rest[0] === '--json';
  const [unexpected] = rest.slice(json ? 1 : 0);
  if (unexpected !== undefined) throw new UsageError(`unexpected argument: ${unexpected}\n\n${doctorHelp()}`);
  const findings = await examine(env, warningsTo(stderr));
  stdout(json ? `${JSON.stringify({ findings })}\n` : findingsText(findings));
  return findings.some(({ state }) => state === 'FAIL') ? FAILED : DONE;
}

async function administer(command: Command, words: readonly string[], surroundings: Surroundings): Promise<number> {
  try {
    const { input, json } = parseCommandLine(command, words);
    const result = await onDatabase(command, input, surroundings);
    surroundings.stdout(json ? `${JSON.stringify(result.json)}\n` : `${result.lines.join('\n')}\n`);
    return DONE;
  } catch (error) {
    if (error instanceof UsageError) throw new UsageError(`${error.message}\n\n${commandHelp(command)}`);
    throw error;
  }
}

/** The control plane may use the same database at the same time: these commands are ordinary writers beside it. */
async function onDatabase(command: Command, input: Input, { env, stderr }: Surroundings): Promise<Result> {
  const config = await loadConfig(env);
  const log = warningsTo(stderr);
  const storage = await openStorage(config.databaseUrl, { log });
  try {
    await migrate(storage);
    const deps = { storage, clock: systemClock, log };
    return await command.run(
      {
        config,
        storage,
        teams: new TeamsService(deps),
        sites: new SitesService(deps),
        invitations: new InvitationsService(deps),
        auth: new CredentialsService(deps),
        log,
      },
      input,
    );
  } finally {
    await storage.close();
  }
}

function warningsTo(stderr: (text: string) => void): Log {
  const write = (_fields: unknown, message: string): void => stderr(`signalbox: ${message}\n`);
  const quiet = (): void => undefined;
  const log: Log = { debug: quiet, info: quiet, warn: write, error: write, child: () => log };
  return log;
}
