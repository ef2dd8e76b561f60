import { Signalbox } from '../client.ts';
import { ConfigError, loadProfile } from '../config.ts';
import { ConnectionError, ProblemError } from '../errors.ts';
import type { Pause, PauseReason } from '../transport.ts';
import type { Command, Outcome, Surroundings } from './command.ts';
import { UsageError } from './command.ts';
import { commandGroups, commands, completionCommand, loginCommand } from './commands.ts';
import { completionScript } from './completion.ts';
import { EXIT, exitCodeOf } from './exit-codes.ts';
import { commandHelp, familyHelp, overview } from './help.ts';
import { ListenError } from './listen-error.ts';
import type { Parsed } from './parse.ts';
import { nameFirst, parseCommandLine } from './parse.ts';
import { login } from './session-commands.ts';
import { printableLines } from './text.ts';

/** Shorter pauses are not printed, milliseconds. */
const PRINTED_PAUSE_MS = 1000;

/**
 * Runs `signalbox` for an API user with these words. Text for people may quote routers, so it is printed without control
 * characters, which could move the cursor. `--json` prints the exact values.
 * @returns the exit code
 */
export async function runCli(words: readonly string[], given: Surroundings): Promise<number> {
  const surroundings: Surroundings = { ...given, stderr: (text) => given.stderr(printableLines(text)) };
  try {
    return await dispatch(nameFirst(words), surroundings);
  } catch (error) {
    if (surroundings.signal.aborted) return EXIT.interrupted;
    surroundings.stderr(`signalbox: ${describe(error)}\n`);
    return exitCodeOf(error);
  }
}

async function dispatch(words: readonly string[], surroundings: Surroundings): Promise<number> {
  const command = commands.find(({ name }) => name.split(' ').every((part, index) => words[index] === part));
  if (command === undefined) return unknown(words, surroundings);
  try {
    const parsed = parseCommandLine(command, words.slice(command.name.split(' ').length));
    if (parsed.help) return print(surroundings, commandHelp(command, familyOf(command.name)));
    return report(await execute(parsed, surroundings), parsed, surroundings);
  } catch (error) {
    if (error instanceof UsageError) throw new UsageError(`${error.message}\n\n${commandHelp(command, familyOf(command.name))}`);
    throw error;
  }
}

async function execute(parsed: Parsed, surroundings: Surroundings): Promise<Outcome> {
  if (parsed.command === loginCommand) return login(parsed.profile, surroundings);
  if (parsed.command === completionCommand) return completion(parsed.input.at(0));
  const profile = await loadProfile(parsed.profile, surroundings.env);
  const notices = { print: surroundings.stderr };
  const signalbox = new Signalbox({ ...profile, onPause: (pause) => printPause(pause, notices.print) });
  return parsed.command.run({ signalbox, surroundings, json: parsed.json, notices }, parsed.input);
}

const PAUSES: Readonly<Record<PauseReason, string>> = {
  rate_limited: 'the rate limit is reached',
  unavailable: 'the server is busy or being restarted',
  in_progress: 'an earlier attempt of this request is still running',
  no_answer: 'the server does not answer',
};

function printPause({ reason, ms }: Pause, print: (text: string) => void): void {
  if (ms >= PRINTED_PAUSE_MS) print(`${PAUSES[reason]}; waiting ${Math.ceil(ms / 1000)} s\n`);
}

function completion(shell: string): Outcome {
  const text = completionScript(shell, commands);
  if (text === undefined) throw new UsageError('SHELL must be bash, zsh or fish');
  return { json: { shell, script: text }, text };
}

/** The commands whose names begin with this one's: `forward open` for `forward`. */
function familyOf(name: string): readonly Command[] {
  return commands.filter((command) => command.name.startsWith(`${name} `));
}

function report(outcome: Outcome, { json }: Parsed, { stdout }: Surroundings): number {
  if (!json) stdout(printableLines(outcome.text));
  else if (outcome.json !== undefined) stdout(`${JSON.stringify(outcome.json)}\n`);
  return outcome.exitCode ?? EXIT.ok;
}

function print({ stdout }: Surroundings, text: string): number {
  stdout(text);
  return EXIT.ok;
}

/** `signalbox job` or `signalbox job --help`: lists the commands that begin with the word. */
function unknown(words: readonly string[], surroundings: Surroundings): number {
  const family = familyOf(words[0] ?? '');
  const text = family.length > 0 ? familyHelp(words[0]!, family) : overview(commandGroups);
  if (words.some((word) => word === '--help' || word === '-h')) return print(surroundings, text);
  const isBare = family.length > 0 && words[1]?.startsWith('-') !== false;
  surroundings.stderr(`signalbox: ${isBare ? `${words[0]} needs a command` : `unknown command: ${words.join(' ')}`}\n\n${text}`);
  return EXIT.usage;
}

/** The messages of our own errors and of system errors are enough; for others the stack is needed too. */
function describe(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  if (error instanceof ProblemError) return problemText(error);
  const known = [UsageError, ConfigError, ConnectionError, ListenError].some((kind) => error instanceof kind);
  return known || 'syscall' in error ? error.message : (error.stack ?? error.message);
}

function problemText({ message, errors, status, requestId }: ProblemError): string {
  const refused = Object.entries(errors).flatMap(([field, reasons]) => reasons.map((reason) => `\n  ${field}: ${reason}`));
  // With one field, the message already contains its reason.
  const fields = refused.length > 1 ? refused : [];
  return `${message} (${status}${requestId === null ? '' : `, request ${requestId}`})${fields.join('')}`;
}
