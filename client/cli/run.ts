import { RouterNameError, Signalbox } from '../client.ts';
import { ConfigError, loadProfile } from '../config.ts';
import { ConnectionError, ProblemError } from '../errors.ts';
import type { Command, Outcome, Surroundings } from './command.ts';
import { UsageError } from './command.ts';
import { EXIT, exitCodeOf } from './exit-codes.ts';
import { forwardCommands } from './forward-commands.ts';
import { forwardHere } from './forward-here.ts';
import { LOGIN, commandHelp, familyHelp, overview } from './help.ts';
import { jobCommands } from './job-commands.ts';
import { ListenError } from './listen-error.ts';
import type { Parsed } from './parse.ts';
import { nameFirst, parseCommandLine } from './parse.ts';
import { routerCommands } from './router-commands.ts';
import { login, sessionCommands } from './session-commands.ts';

const commands: readonly Command[] = [...routerCommands, ...jobCommands, ...forwardCommands, forwardHere, ...sessionCommands];

/** Parsed like any other; {@link login} does its work. */
const loginCommand: Command = { ...LOGIN, positionals: [], options: {}, run: () => Promise.reject(new UsageError('not a command')) };

/** Runs `signalbox` for an API user with these words. @returns the exit code */
export async function runCli(words: readonly string[], surroundings: Surroundings): Promise<number> {
  try {
    return await dispatch(nameFirst(words), surroundings);
  } catch (error) {
    if (surroundings.signal.aborted) return EXIT.interrupted;
    surroundings.stderr(`signalbox: ${describe(error)}\n`);
    return exitCodeOf(error);
  }
}

async function dispatch(words: readonly string[], surroundings: Surroundings): Promise<number> {
  const command = [loginCommand, ...commands].find(({ name }) => name.split(' ').every((part, index) => words[index] === part));
  if (command === undefined) return unknown(words, surroundings);
  try {
    const parsed = parseCommandLine(command, words.slice(command.name.split(' ').length));
    if (parsed.help) return say(surroundings, commandHelp(command));
    return report(await execute(parsed, surroundings), parsed, surroundings);
  } catch (error) {
    if (error instanceof UsageError) throw new UsageError(`${error.message}\n\n${commandHelp(command)}`);
    throw error;
  }
}

async function execute(parsed: Parsed, surroundings: Surroundings): Promise<Outcome> {
  if (parsed.command === loginCommand) return login(parsed.profile, surroundings);
  const signalbox = new Signalbox(await loadProfile(parsed.profile, surroundings.env));
  return parsed.command.run({ signalbox, surroundings, json: parsed.json }, parsed.input);
}

function report(outcome: Outcome, { json }: Parsed, { stdout }: Surroundings): number {
  if (!json) stdout(outcome.text);
  else if (outcome.json !== undefined) stdout(`${JSON.stringify(outcome.json)}\n`);
  return outcome.exitCode ?? EXIT.ok;
}

function say({ stdout }: Surroundings, text: string): number {
  stdout(text);
  return EXIT.ok;
}

/** `signalbox job` or `signalbox job --help`: what begins with that word. */
function unknown(words: readonly string[], surroundings: Surroundings): number {
  const family = commands.filter(({ name }) => name.startsWith(`${words[0]} `));
  const text = family.length > 0 ? familyHelp(words[0]!, family) : overview(commands);
  if (words.some((word) => word === '--help' || word === '-h')) return say(surroundings, text);
  const isBare = family.length > 0 && words[1]?.startsWith('-') !== false;
  surroundings.stderr(`signalbox: ${isBare ? `${words[0]} what?` : `unknown command: ${words.join(' ')}`}\n\n${text}`);
  return EXIT.usage;
}

/** Our own errors and the system's speak for themselves; of others the place matters too. */
function describe(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  if (error instanceof ProblemError) return problemText(error);
  const known = [UsageError, ConfigError, ConnectionError, RouterNameError, ListenError].some((kind) => error instanceof kind);
  return known || 'syscall' in error ? error.message : (error.stack ?? error.message);
}

function problemText({ message, errors, status, requestId }: ProblemError): string {
  const refused = Object.entries(errors).flatMap(([field, reasons]) => reasons.map((reason) => `\n  ${field}: ${reason}`));
  // Of one field the message has said it.
  const fields = refused.length > 1 ? refused : [];
  return `${message} (${status}${requestId === null ? '' : `, request ${requestId}`})${fields.join('')}`;
}
