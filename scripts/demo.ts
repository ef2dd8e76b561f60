/**
 * `npm run demo`: a control plane, two simulated routers (RouterOS 6 and 7) and an agent on this machine, as real
 * processes over real sockets. Runs until Ctrl-C and leaves only its folder behind, which the next run replaces: `.demo/`,
 * or `.demo-PORT/` while another demo of the same checkout runs in `.demo/`. With `--routers N`, a large simulated fleet (docs/fleet.md)
 * and an invented past are in the same team.
 */
import { mkdir, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import process from 'node:process';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { claimFolder } from './demo/claim-folder.ts';
import { LargeFleet } from './demo/large-fleet.ts';
import { MailFolder } from './demo/mail-folder.ts';
import { makeGroup, proveEmail } from './demo/notify-admin.ts';
import { admin, createTeam } from './demo/people.ts';
import { checkPorts, HIGHEST_FIRST_PORT, portsOf, readFirstPort } from './demo/ports.ts';
import { describeRouters, idOf, listRouters, routersAt, simulatorOf, startAgent } from './demo/routers.ts';
import type { ListedRouter } from './demo/routers.ts';
import { say, Stage, text } from './demo/stage.ts';

const root = path.dirname(path.dirname(fileURLToPath(import.meta.url)));

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

const routers = routersAt(ports.routers);
const stage = new Stage({ root, folder, env: serverEnv, startTimeoutMs });
let mails: MailFolder | undefined;
/** Of the second simulated router: whoever stops it gets a mail. */
let lastRouterPid: number | undefined;

await stage.perform('demo', startDemo, async () => mails?.close());

async function startDemo(): Promise<void> {
  await checkPorts(firstPort);
  await rm(folder, { recursive: true, force: true });
  await mkdir(folder, { recursive: true });
  say(`Signalbox: ${baseUrl}/, in a moment. Sign in as ${admin.email} with the password ${admin.password}.\n`);
  say('Building the web application, unless it is there ...');
  await stage.node('scripts/build-console.ts', []);
  await stage.node('scripts/build-agent.ts', []);
  const fleet = size > 0 ? new LargeFleet(size, machine()) : undefined;
  if (fleet) say(`Making ${size} simulated routers and their past; this takes a minute ...`);
  const made = await fleet?.prepare((name) => createTeam(stage, name));
  say('Starting two simulated routers and the control plane ...');
  if (smtpUrl === undefined) mails = await MailFolder.start(mailFolder, ports.mail);
  for (const router of routers) lastRouterPid = stage.children.start(simulatorOf(router));
  stage.children.start({ name: 'server', file: 'server/main.ts', args: ['serve'], env: serverEnv, ifItEnds: 'restart' });
  await stage.until('the control plane answers', async () => (await fetch(`${baseUrl}/healthz`, { signal: AbortSignal.timeout(2000) })).ok);

  say('Creating a team, an admin, an API key and an agent ...');
  const { teamId, apiKey } = made ?? (await createTeam(stage, 'Demo'));
  await proveEmail(serverEnv.SIGNALBOX_DATABASE_URL, admin.email);
  await makeGroup(baseUrl, apiKey, admin.email);
  const token = await stage.signalbox('enrol-token', 'create', '--team', teamId);
  const service = await stage.signalbox('service-token', 'create', 'demo');
  await startAgent(stage, { name: 'agent', server: baseUrl, token: text(token, 'token'), routers });
  if (fleet) stage.children.start(fleet.program(apiKey));

  say('Waiting for both routers ...');
  const listed = await stage.until('both routers are listed', () => listRouters(baseUrl, apiKey, routers));
  const internalToken = text(service, 'token');
  await writeDemoFile(apiKey, internalToken, listed);
  printHelp(apiKey, listed);
  await fleet?.play(apiKey, stage.stopRequested);
}

/** What the large fleet needs of this one. */
function machine(): ConstructorParameters<typeof LargeFleet>[1] {
  return {
    root,
    folder,
    server: baseUrl,
    env: serverEnv,
    node: (file, args, env) => stage.node(file, args, env),
    until: (what, ask) => stage.until(what, ask),
  };
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
    routers: describeRouters(routers, listed),
  };
  await writeFile(path.join(folder, 'demo.json'), `${JSON.stringify(demo, null, 2)}\n`, { mode: 0o600 });
}

function printHelp(apiKey: string, listed: ListedRouter[]): void {
  const id = idOf(listed, routers[0]!.identity);
  const curl = `curl -s -H "Authorization: Bearer $KEY"`;
  const json = `-H 'Content-Type: application/json'`;
  say(`
Signalbox is running. Open ${baseUrl}/ and sign in as ${admin.email} with the password ${admin.password}.
The API is at ${baseUrl}/docs. Everything else is in ${path.relative(root, folder)}/demo.json.

In a shell, first:
   KEY=${apiKey}
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

The group On call tells ${admin.email} of outages: ${mailsAre()} Its Slack channel #noc is invented, nobody has confirmed it, and it gets nothing.
   kill -STOP ${lastRouterPid}   # ${routers.at(-1)!.identity} does not answer any more: a mail comes after about 90 seconds
   kill -CONT ${lastRouterPid}   # and another one when it is over

Ctrl-C ends the demo.`);
}

function mailsAre(): string {
  if (smtpUrl !== undefined) return 'by your mail server.';
  return `mails are files in ${path.relative(root, mailFolder)}/.`;
}

/** Also behind a `--` of its own, which npm takes away and bootstrap.mjs does not. @returns undefined without it */
function routersOption(): string | undefined {
  const given = process.argv.slice(2);
  const args = given[0] === '--' ? given.slice(1) : given;
  try {
    return parseArgs({ args, options: { routers: { type: 'string' } } }).values.routers;
  } catch (error) {
    process.stderr.write(`demo: ${error instanceof Error ? error.message : String(error)}\nUsage: npm run demo -- [--routers N]\n`);
    process.exit(2);
  }
}

/** Of the large fleet; 0 without it. */
function sizeOrExit(): number {
  const number = Number(routersOption() ?? 0);
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
