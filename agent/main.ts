import os from 'node:os';
import process from 'node:process';
import { parseArgs } from 'node:util';
import type { ParseArgsOptionsConfig } from 'node:util';
import closeWithGrace from 'close-with-grace';
import pino from 'pino';
import { END_SIGNALS, onEndSignal } from '../runtime/end-signals.ts';
import { cleanText } from '../routeros-text/router-text.ts';
import { disablePretenuring } from '../runtime/pretenuring.ts';
import { startAgent } from './app.ts';
import { checkAgent } from './check.ts';
import { loadConfig } from './config.ts';
import type { AgentConfig } from './config.ts';
import { collectBuffersWithObjects } from './core/buffer-garbage.ts';
import { systemClock } from './core/clock.ts';
import { AgentError } from './core/errors.ts';
import { readNamedFile } from './core/file-errors.ts';
import type { Log } from './core/log.ts';
import { enrol } from './link/enrol.ts';
import { LinkError } from './link/errors.ts';
import { enrolAtFirstStart } from './link/first-start.ts';
import { errorForLog } from './log-errors.ts';
import type { CheckRow } from './routers/check/index.ts';
import { AGENT_VERSION } from './version.ts';

/** Where install.sh writes it. */
const DEFAULT_CONFIG = '/etc/signalbox/agent.yaml';

const USAGE = `signalbox-agent: runs on or beside MikroTik routers and dials the control plane

  signalbox-agent enrol --server URL --token T --credentials FILE [--name NAME] [--server-ca FILE]
      turns a one-use enrolment token into this agent's credentials
  signalbox-agent check [--config FILE]
      tests the control plane, every router and every permission, and prints what works
  signalbox-agent run [--config FILE]
      runs until SIGTERM or SIGINT; without credentials it enrols first, if the configuration names an enrol_token_file
  signalbox-agent --version

  The configuration is ${DEFAULT_CONFIG} unless --config names another file.
`;

/** A wrong command line. The usage is printed with it. */
class UsageError extends Error {}

/** Time for running work after SIGTERM, in milliseconds; a running script continues on the router anyway. */
const STOP_MS = 20_000;

const commands: Record<string, (args: string[]) => Promise<number>> = { enrol: runEnrol, check: runCheck, run: runAgent };

async function runEnrol(args: string[]): Promise<number> {
  const values = readOptions(args, ['server', 'token', 'credentials'], ['name', 'server-ca']);
  const ca = values['server-ca'];
  await enrol({
    server: values['server']!,
    token: values['token']!,
    credentialsFile: values['credentials']!,
    name: values['name'] ?? os.hostname(),
    ...(ca === undefined ? {} : { ca: await readNamedFile('--server-ca', ca) }),
  });
  process.stdout.write(`enrolled; credentials are in ${values['credentials']}\n`);
  return 0;
}

async function runCheck(args: string[]): Promise<number> {
  const values = readOptions(args, [], ['config']);
  const rows = await checkAgent(await loadConfig(values['config'] ?? DEFAULT_CONFIG));
  process.stdout.write(formatTable(rows));
  return rows.every((row) => row.ok) ? 0 : 1;
}

async function runAgent(args: string[]): Promise<number> {
  const values = readOptions(args, [], ['config']);
  const config = await loadConfig(values['config'] ?? DEFAULT_CONFIG);
  const log = pino({ level: config.log_level, serializers: { err: errorForLog } });
  disablePretenuring();
  collectBuffersWithObjects();
  // A first start may wait for the network; the same signals end it.
  const stopping = new AbortController();
  let end = (): void => undefined;
  onEndSignal((signal) => {
    log.info({ reason: signal }, 'stopping');
    stopping.abort();
    end();
  });
  if (!(await enrolIfNew(config, log, stopping.signal))) return 0;
  const agent = await startAgent(config, { log });
  const grace = closeWithGrace({ delay: STOP_MS, logger: false, skip: [...END_SIGNALS] }, async ({ err }) => {
    if (err) log.error({ err }, 'stopping after an unexpected error');
    await agent.close();
  });
  end = () => grace.close();
  if (stopping.signal.aborted) end();
  return new Promise<number>(() => {});
}

/** @returns false when a signal ended the agent before it could enrol */
async function enrolIfNew(config: AgentConfig, log: Log, signal: AbortSignal): Promise<boolean> {
  const { server, name, credentials, enrol_token_file: tokenFile, server_ca: ca, routers } = config;
  if (tokenFile === undefined) return true;
  return enrolAtFirstStart(
    {
      server,
      tokenFile,
      signal,
      credentialsFile: credentials,
      // An agent with a single router, such as one in a container on it, gets the router's name.
      name: name ?? (routers.length === 1 ? routers[0]!.name : os.hostname()),
      ...(ca === undefined ? {} : { ca: await readNamedFile('server_ca', ca) }),
    },
    { clock: systemClock, random: Math.random, log },
  );
}

function readOptions(args: string[], required: string[], optional: string[]): Record<string, string | undefined> {
  const options: ParseArgsOptionsConfig = Object.fromEntries([...required, ...optional].map((name) => [name, { type: 'string' as const }]));
  let values: Record<string, string | boolean | (string | boolean)[] | undefined>;
  try {
    ({ values } = parseArgs({ args, options, strict: true, allowPositionals: false }));
  } catch (error) {
    throw new UsageError(error instanceof Error ? error.message : String(error));
  }
  const missing = required.filter((name) => values[name] === undefined || values[name] === '');
  if (missing.length > 0) throw new UsageError(`missing ${missing.map((name) => `--${name}`).join(', ')}`);
  return values as Record<string, string | undefined>;
}

/** Characters of a detail, which may contain a router's own text. */
const LONGEST_DETAIL = 1000;

function formatTable(rows: CheckRow[]): string {
  const width = (column: 'router' | 'what') => Math.max(...rows.map((row) => row[column].length));
  const [first, second] = [width('router'), width('what')];
  return rows
    .map((row) => `${verdict(row)}  ${row.router.padEnd(first)}  ${row.what.padEnd(second)}  ${cleanText(row.detail, LONGEST_DETAIL)}\n`)
    .join('');
}

function verdict({ ok, warning }: CheckRow): string {
  if (!ok) return 'FAIL';
  return warning ? 'WARN' : 'ok  ';
}

async function main(args: string[]): Promise<number> {
  const [name = '', ...rest] = args;
  if (name === '' || name === 'help' || args.includes('--help') || args.includes('-h')) {
    process.stdout.write(USAGE);
    return name === '' ? 2 : 0;
  }
  if (name === '--version' || name === '-V') {
    process.stdout.write(`signalbox-agent ${AGENT_VERSION}\n`);
    return 0;
  }
  const command = Object.hasOwn(commands, name) ? commands[name] : undefined;
  if (!command) throw new UsageError(`unknown command ${name}`);
  return command(rest);
}

/** Errors of configuration or network, which need no stack. */
function isExpected(error: unknown): error is AgentError | LinkError {
  return error instanceof AgentError || error instanceof LinkError;
}

function fail(error: unknown): void {
  if (error instanceof UsageError) process.stderr.write(`signalbox-agent: ${error.message}\n\n${USAGE}`);
  else process.stderr.write(`signalbox-agent: ${isExpected(error) ? error.message : String((error as Error).stack)}\n`);
  process.exitCode = error instanceof UsageError ? 2 : 1;
}

// No top-level await: the bundle is CommonJS.
main(process.argv.slice(2)).then((code) => {
  process.exitCode = code;
}, fail);
