/**
 * `npm run demo`: a control plane, two simulated routers (RouterOS 6 and 7) and an agent on this machine, as real
 * processes over real sockets. Runs until Ctrl-C and leaves only its folder behind, which the next run replaces: `.demo/`,
 * or `.demo-PORT/` while another demo of the same checkout runs in `.demo/`. With `--routers N`, a large simulated fleet (docs/fleet.md)
 * and an invented past are in the same team.
 */
import { execFile } from 'node:child_process';
import { mkdir, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import process from 'node:process';
import { fileURLToPath } from 'node:url';
import { parseArgs, promisify } from 'node:util';
import { stringify as toYaml } from 'yaml';
import { Children } from './demo/children.ts';
import { claimFolder } from './demo/claim-folder.ts';
import { LargeFleet } from './demo/large-fleet.ts';
import { MailFolder } from './demo/mail-folder.ts';
import { makeGroup, proveEmail } from './demo/notify-admin.ts';
import { checkPorts, HIGHEST_FIRST_PORT, portsOf, readFirstPort } from './demo/ports.ts';

const root = path.dirname(path.dirname(fileURLToPath(import.meta.url)));
const run = promisify(execFile);

/** Most simulated routers: more would take all of a small machine. */
const LARGEST = 10_000;

const size = sizeOrExit();
/** Longest wait for each step of the start, milliseconds: routers that are reached for the first time take their time. */
const startTimeoutMs = 90_000 + 60 * size;
const firstPort = firstPortOrExit();
const folder = await claimFolderOrExit();
const ports = portsOf(firstPort);
const baseUrl = `http://127.0.0.1:${ports.api}`;
const sandboxUrl = `http://127.0.0.1:${ports.sandbox}`;
/** The caller's mail server, or mails as files. */
const smtpUrl = process.env['SIGNALBOX_SMTP_URL'];
const mailFolder = path.join(folder, 'mail');
const admin = { email: process.env['DEMO_EMAIL'] ?? 'admin@example.test', password: 'signalbox-demo' };

/** Environment for the control plane and for `npx signalbox` to administer this demo. */
const serverEnv = {
  SIGNALBOX_LISTEN: `127.0.0.1:${ports.api}`,
  SIGNALBOX_PUBLIC_URL: baseUrl,
  SIGNALBOX_SANDBOX_LISTEN: `127.0.0.1:${ports.sandbox}`,
  SIGNALBOX_DATABASE_URL: `sqlite:${path.join(folder, 'signalbox.db')}`,
  SIGNALBOX_SECRET_KEY_FILE: path.join(folder, 'secret.key'),
  SIGNALBOX_FORWARD_HOST: '127.0.0.1',
  SIGNALBOX_FORWARD_LISTEN: '127.0.0.1',
  SIGNALBOX_FORWARD_PORTS: `${ports.forwards.first}-${ports.forwards.last}`,
  // Allows loopback as source, as target and as receiver of webhooks.
  SIGNALBOX_ALLOW_PRIVATE_SOURCES: 'on',
  SIGNALBOX_ALLOW_LOOPBACK_WEBHOOKS: 'on',
  SIGNALBOX_SMTP_URL: smtpUrl ?? `smtp://127.0.0.1:${ports.mail}`,
  SIGNALBOX_MAIL_FROM: process.env['SIGNALBOX_MAIL_FROM'] ?? 'Signalbox demo <signalbox@example.test>',
  // One key makes a whole fleet.
  ...(size > 0 ? { SIGNALBOX_RATE_LIMIT_PER_MINUTE: '100000' } : {}),
};

const routers = [
  { identity: 'edge-berlin', version: '7.18.2', model: 'hAP ac^2', ...ports.routers[0] },
  { identity: 'edge-zurich', version: '6.49.18', model: 'hEX', ...ports.routers[1] },
].map((router) => ({ ...router, username: 'signalbox', password: `router-${router.identity}` }));

/** Looks at both routers in terminals. */
const READER = { username: 'look', password: 'router-look' };

interface ListedRouter {
  id: string;
  identity: string;
  has_pulse: boolean;
}

const children = new Children(root, folder);
let mails: MailFolder | undefined;
/** Of the second simulated router: whoever stops it gets a mail. */
let lastRouterPid: number | undefined;
const stopRequested = Promise.withResolvers<void>();
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => stopRequested.resolve());

try {
  await Promise.race([startDemo(), stopRequested.promise, children.failure]);
  await Promise.race([stopRequested.promise, children.failure]);
} catch (error) {
  process.stderr.write(`demo: ${error instanceof Error ? error.message : String(error)}\n`);
  process.exitCode = 1;
} finally {
  await children.stop();
  await mails?.close();
}

async function startDemo(): Promise<void> {
  await checkPorts(firstPort);
  await rm(folder, { recursive: true, force: true });
  await mkdir(folder, { recursive: true });
  say(`Signalbox: ${baseUrl}/, in a moment. Sign in as ${admin.email} with the password ${admin.password}.\n`);
  say('Building the web application, unless it is there ...');
  await node('scripts/build-console.ts', []);
  await node('scripts/build-agent.ts', []);
  const fleet = size > 0 ? new LargeFleet(size, { root, folder, server: baseUrl, env: serverEnv, node, until }) : undefined;
  if (fleet) say(`Making ${size} simulated routers and their past; this takes a minute ...`);
  const made = await fleet?.prepare(createTeam);
  say('Starting two simulated routers and the control plane ...');
  if (smtpUrl === undefined) mails = await MailFolder.start(mailFolder, ports.mail);
  for (const router of routers) {
    lastRouterPid = children.start({
      name: router.identity,
      file: 'scripts/simulator.ts',
      args: [
        `--api-port=${router.api_port}`,
        `--ssh-port=${router.ssh_port}`,
        `--version=${router.version}`,
        `--model=${router.model}`,
        `--identity=${router.identity}`,
        `--username=${router.username}`,
        `--password=${router.password}`,
        `--reader=${READER.username}=${READER.password}`,
      ],
    });
  }
  children.start({ name: 'server', file: 'server/main.ts', args: ['serve'], env: serverEnv, keepRunning: true });
  await until('the control plane answers', async () => (await fetch(`${baseUrl}/healthz`, { signal: AbortSignal.timeout(2000) })).ok);

  say('Creating a team, an admin, an API key and an agent ...');
  const { teamId, apiKey } = made ?? (await createTeam('Demo'));
  await proveEmail(serverEnv.SIGNALBOX_DATABASE_URL, admin.email);
  await makeGroup(baseUrl, apiKey, admin.email);
  const token = await signalbox('enrol-token', 'create', '--team', teamId);
  const service = await signalbox('service-token', 'create', 'demo');
  await startAgent(text(token, 'token'));
  if (fleet) children.start(fleet.program(apiKey));

  say('Waiting for both routers ...');
  const listed = await until('both routers are listed', () => listRouters(apiKey));
  const internalToken = text(service, 'token');
  await writeDemoFile(apiKey, internalToken, listed);
  printHelp(apiKey, listed);
  await fleet?.play(apiKey, stopRequested.promise);
}

async function createTeam(name: string): Promise<{ teamId: string; apiKey: string }> {
  const teamId = text(await signalbox('team', 'create', name), 'id');
  const passwordFile = path.join(folder, 'admin-password');
  await writeFile(passwordFile, admin.password, { mode: 0o600 });
  await signalbox('user', 'create', admin.email, '--team', teamId, '--role', 'admin', '--password-file', passwordFile);
  return { teamId, apiKey: text(await signalbox('key', 'create', '--team', teamId, '--name', 'demo'), 'api_key') };
}

async function startAgent(token: string): Promise<void> {
  const credentials = path.join(folder, 'agent-credentials.json');
  const config = path.join(folder, 'agent.yaml');
  await writeFile(config, toYaml(agentConfig(credentials)), { mode: 0o600 });
  await node('agent/main.ts', ['enrol', '--server', baseUrl, '--token', token, '--credentials', credentials]);
  children.start({ name: 'agent', file: 'agent/main.ts', args: ['run', '--config', config], keepRunning: true });
}

function agentConfig(credentials: string): object {
  return {
    server: baseUrl,
    credentials,
    state: path.join(folder, 'agent-state'),
    // The demo's targets are services on this machine; the default for real agents excludes loopback.
    forwards: { allow: ['127.0.0.0/8', '10.0.0.0/8', '172.16.0.0/12', '192.168.0.0/16'] },
    terminal: 'full',
    routers: routers.map((router) => ({
      name: router.identity,
      host: '127.0.0.1',
      api: { port: router.api_port, username: router.username, password: router.password },
      ssh: { port: router.ssh_port, username: router.username, password: router.password },
      terminal: { read: READER, full: { username: router.username, password: router.password } },
    })),
  };
}

async function listRouters(apiKey: string): Promise<ListedRouter[] | undefined> {
  const answer = await fetch(`${baseUrl}/api/routers`, { headers: { authorization: `Bearer ${apiKey}` } });
  if (!answer.ok) return undefined;
  const { data } = (await answer.json()) as { data: ListedRouter[] };
  const ready = routers.every(({ identity }) => data.some((router) => router.identity === identity && router.has_pulse));
  return ready ? data : undefined;
}

async function writeDemoFile(apiKey: string, internalToken: string, listed: ListedRouter[]): Promise<void> {
  const demo = {
    base_url: baseUrl,
    sandbox_url: sandboxUrl,
    console_url: `${baseUrl}/`,
    admin_email: admin.email,
    admin_password: admin.password,
    api_key: apiKey,
    internal_token: internalToken,
    env: serverEnv,
    routers: routers.map((router) => ({
      id: idOf(listed, router.identity),
      identity: router.identity,
      api_port: router.api_port,
      ssh_port: router.ssh_port,
      username: router.username,
      password: router.password,
    })),
  };
  await writeFile(path.join(folder, 'demo.json'), `${JSON.stringify(demo, null, 2)}\n`, { mode: 0o600 });
}

function printHelp(apiKey: string, listed: ListedRouter[]): void {
  const id = idOf(listed, routers[0]!.identity);
  const curl = `curl -s -H 'Authorization: Bearer ${apiKey}'`;
  const json = `-H 'Content-Type: application/json'`;
  say(`
Signalbox is running. Open ${baseUrl}/ and sign in as ${admin.email} with the password ${admin.password}.
The API is at ${baseUrl}/docs. Everything else is in ${path.relative(root, folder)}/demo.json.

1. The routers:
   ${curl} ${baseUrl}/api/routers
2. Ask a router now:
   ${curl} ${json} ${baseUrl}/api/synchronous/${id} -d '{"command":"/ip/address/print","parameters":""}'
3. Change something now:
   ${curl} ${json} ${baseUrl}/api/synchronous/${id} -d '{"command":"/ip/address/add","parameters":"address=10.99.0.1/24 interface=ether2"}'
4. Queue a script, run once:
   ${curl} ${json} ${baseUrl}/api/asynchronous/${id} -d '{"description":"motd","script":"/system/note/set note=hello; :put done","make_backup":false,"express_execute":true,"needs_acknowledgement":true}'
   ${curl} ${baseUrl}/api/routers/${id}/jobs
5. Open a forward for an hour, here to the control plane itself, then use its port:
   ${curl} ${json} ${baseUrl}/api/routers/${id}/transient-forwarding -d '{"expire_after_minutes":60,"dst_port":${firstPort},"dst_address":"127.0.0.1","allow_from":"127.0.0.1/32"}'

The group On call tells ${admin.email} of outages: ${mailsAre()}
   kill -STOP ${lastRouterPid}   # ${routers.at(-1)!.identity} does not answer any more: a mail comes after about 90 seconds
   kill -CONT ${lastRouterPid}   # and another one when it is over

Ctrl-C ends the demo.`);
}

function mailsAre(): string {
  if (smtpUrl !== undefined) return 'by your mail server.';
  return `mails are files in ${path.relative(root, mailFolder)}/.`;
}

function idOf(listed: ListedRouter[], identity: string): string {
  return listed.find((router) => router.identity === identity)?.id ?? '';
}

async function signalbox(...args: string[]): Promise<Record<string, unknown>> {
  const output = await node('server/main.ts', [...args, '--json'], serverEnv);
  return JSON.parse(output) as Record<string, unknown>;
}

async function node(file: string, args: string[], env: Record<string, string> = {}): Promise<string> {
  const { stdout } = await run(process.execPath, [path.join(root, file), ...args], {
    env: { ...process.env, ...env },
    timeout: startTimeoutMs,
  });
  return stdout;
}

/** Polls every 100 ms until the answer is neither false nor undefined, a child dies, or the deadline passes. */
async function until<T>(what: string, ask: () => Promise<T | undefined | false>): Promise<T> {
  const deadline = Date.now() + startTimeoutMs;
  while (Date.now() < deadline) {
    const answer = await ask().catch(() => undefined);
    if (answer !== undefined && answer !== false) return answer;
    const pause = new Promise<boolean>((resolve) => setTimeout(() => resolve(false), 100));
    const isStopped = await Promise.race([children.failure, stopRequested.promise.then(() => true), pause]);
    if (isStopped) throw new Error('stopped during the start');
  }
  throw new Error(`timed out after ${startTimeoutMs / 1000} s: ${what}; see the logs in ${folder}/`);
}

function text(object: Record<string, unknown>, field: string): string {
  const value = object[field];
  if (typeof value !== 'string') throw new Error(`signalbox answered no ${field}`);
  return value;
}

/** Of the large fleet; 0 without it. */
function sizeOrExit(): number {
  const { values } = parseArgs({ options: { routers: { type: 'string' } } });
  const number = Number(values.routers ?? 0);
  if (Number.isInteger(number) && number >= 0 && number <= LARGEST) return number;
  process.stderr.write(`demo: --routers must be a number up to ${LARGEST}\n`);
  process.exit(2);
}

function firstPortOrExit(): number {
  const port = readFirstPort(process.env['DEMO_PORT']);
  if (port !== undefined) return port;
  process.stderr.write(`demo: DEMO_PORT must be a port number up to ${HIGHEST_FIRST_PORT}\n`);
  process.exit(2);
}

async function claimFolderOrExit(): Promise<string> {
  try {
    return await claimFolder(root, firstPort);
  } catch (error) {
    process.stderr.write(`demo: ${error instanceof Error ? error.message : String(error)}\n`);
    process.exit(1);
  }
}

function say(line: string): void {
  process.stdout.write(`${line}\n`);
}
