import { Signalbox } from '../client.ts';
import { ConfigError, loadProfile } from '../config.ts';
import { ConnectionError, ProblemError } from '../errors.ts';
import type { Pause, PauseReason } from '../transport.ts';
import type { Command, Outcome, Surroundings } from './command.ts';
import { UsageError } from './command.ts';
import { commands, completionCommand, loginCommand } from './commands.ts';
import { completionScript } from './completion.ts';
import { EXIT, exitCodeOf } from './exit-codes.ts';
import { commandHelp, familyHelp, overview } from './help.ts';
import { ListenError } from './listen-error.ts';
import type { Parsed } from './parse.ts';
import { nameFirst, parseCommandLine } from './parse.ts';
import { login } from './session-commands.ts';
import { printableLines } from './text.ts';

/** Shorter pauses are not worth a line, milliseconds. */
const TOLD_FROM_MS = 1000;

/**
 * Runs `signalbox` for an API user with these words. What it says to people holds words of routers here and there, and nothing
 * in them reaches the terminal that would move its cursor; `--json` is for programs, and exact.
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
    if (parsed.help) return say(surroundings, commandHelp(command, familyOf(command.name)));
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
  const signalbox = new Signalbox({ ...profile, onPause: (pause) => tellPause(pause, surroundings) });
  return parsed.command.run({ signalbox, surroundings, json: parsed.json }, parsed.input);
}

const PAUSES: Readonly<Record<PauseReason, string>> = {
  rate_limited: 'the rate limit of this key is reached',
  unavailable: 'the server is busy or being restarted',
  in_progress: 'an earlier try of this request is still under way',
  no_answer: 'the server does not answer',
};

function tellPause({ reason, ms }: Pause, { stderr }: Surroundings): void {
  if (ms >= TOLD_FROM_MS) stderr(`${PAUSES[reason]}; waiting ${Math.ceil(ms / 1000)} s\n`);
}

function completion(shell: string): Outcome {
  const text = completionScript(shell, commands);
  if (text === undefined) throw new UsageError('SHELL must be bash, zsh or fish');
  return { json: { shell, script: text }, text };
}

/** `forward open` and the others that begin with this command's name. */
function familyOf(name: string): readonly Command[] {
  return commands.filter((command) => command.name.startsWith(`${name} `));
}

function report(outcome: Outcome, { json }: Parsed, { stdout }: Surroundings): number {
  if (!json) stdout(printableLines(outcome.text));
  else if (outcome.json !== undefined) stdout(`${JSON.stringify(outcome.json)}\n`);
  return outcome.exitCode ?? EXIT.ok;
}

function say({ stdout }: Surroundings, text: string): number {
  stdout(text);
  return EXIT.ok;
}

/** `signalbox job` or `signalbox job --help`: what begins with that word. */
function unknown(words: readonly string[], surroundings: Surroundings): number {
  const family = familyOf(words[0] ?? '');
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
  const known = [UsageError, ConfigError, ConnectionError, ListenError].some((kind) => error instanceof kind);
  return known || 'syscall' in error ? error.message : (error.stack ?? error.message);
}

function problemText({ message, errors, status, requestId }: ProblemError): string {
  const refused = Object.entries(errors).flatMap(([field, reasons]) => reasons.map((reason) => `\n  ${field}: ${reason}`));
  // Of one field the message has said it.
  const fields = refused.length > 1 ? refused : [];
  return `${message} (${status}${requestId === null ? '' : `, request ${requestId}`})${fields.join('')}`;
}
