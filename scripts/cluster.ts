/**
 * `npm run cluster`: three control planes on one PostgreSQL and one nats-server behind HAProxy, three agents and three simulated routers,
 * all as real processes on this machine. Killed control planes stay dead until `npm run cluster -- revive NAME`. Runs until Ctrl-C and
 * leaves only its folder behind: `.demo/`, or `.demo-PORT/` while another demo of the same checkout runs in `.demo/`.
 */
import { randomBytes } from 'node:crypto';
import { mkdir, rename, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import process from 'node:process';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { prepareBalancer } from './cluster/balancer.ts';
import { findInstalled } from './cluster/installed.ts';
import { accepts, natsUrl, prepareNats } from './cluster/nats.ts';
import { clusterPortsOf, listenedPorts } from './cluster/ports.ts';
import type { NodePorts } from './cluster/ports.ts';
import { Postgres, postgresUrl } from './cluster/postgres.ts';
import { answerRequests, requestRevival } from './cluster/requests.ts';
import { claimFolder } from './demo/claim-folder.ts';
import { MailFolder } from './demo/mail-folder.ts';
import { makeGroup, proveEmail } from './demo/notify-admin.ts';
import { admin, createTeam } from './demo/people.ts';
import { checkPorts, HIGHEST_FIRST_PORT, readFirstPort } from './demo/ports.ts';
import { describeRouters, idOf, listKnown, routersAt, simulatorOf, startAgent } from './demo/routers.ts';
import type { ListedRouter } from './demo/routers.ts';
import { say, Stage, text } from './demo/stage.ts';

const root = path.dirname(path.dirname(fileURLToPath(import.meta.url)));
const command = 'npm run cluster';
/** Of each step: it is many programs at once. */
const START_TIMEOUT_MS = 120_000;

const { positionals } = parseArgs({ allowPositionals: true });
const firstPort = await orExit(2, async () => {
  const port = readFirstPort(process.env['DEMO_PORT']);
  if (port === undefined) throw new Error(`DEMO_PORT must be a port number up to ${HIGHEST_FIRST_PORT}`);
  return port;
});
if (positionals.length > 0) {
  const [verb, name] = positionals;
  say(
    await orExit(1, async () => {
      if (verb !== 'revive') throw new Error(`there is only: ${command} -- revive NAME`);
      return requestRevival(root, firstPort, name);
    }),
  );
  process.exit(0);
}

const installed = await orExit(1, async () => findInstalled());
const folder = await orExit(1, () => claimFolder(root, firstPort));
const ports = clusterPortsOf(firstPort);
const baseUrl = `http://127.0.0.1:${ports.api}`;
const passwords = { postgres: randomBytes(16).toString('hex'), nats: randomBytes(16).toString('hex') };
/** The caller's mail server, or mails as files. */
const smtpUrl = process.env['SIGNALBOX_SMTP_URL'];
const mailFolder = path.join(folder, 'mail');
const databaseUrl = postgresUrl(ports.postgres, passwords.postgres);

interface Node {
  name: string;
  base_url: string;
  /** Of its present or last process. */
  pid: number | null;
  env: Record<string, string>;
}

const nodes: Node[] = ports.nodes.map((of, index) => ({
  name: `node-${index + 1}`,
  base_url: `http://127.0.0.1:${of.api}`,
  pid: null,
  env: nodeEnv(of),
}));
const routers = routersAt(ports.routers);
const stage = new Stage({ root, folder, env: nodes[0]!.env, startTimeoutMs: START_TIMEOUT_MS });
const over = new AbortController();
let postgres: Postgres | undefined;
let mails: MailFolder | undefined;
let requests: Promise<void> | undefined;
/** What `cluster.json` has beside the nodes, from the moment the cluster is ready. */
let told: object | undefined;

await stage.perform('cluster', startCluster, async () => {
  over.abort();
  await requests;
  await mails?.close();
  await postgres?.close();
});

/** The same secret key file, database and bus for all; ports of its own for each. */
function nodeEnv({ api, sandbox, own, forwards }: NodePorts): Record<string, string> {
  return {
    SIGNALBOX_LISTEN: `127.0.0.1:${api}`,
    SIGNALBOX_PUBLIC_URL: baseUrl,
    SIGNALBOX_NODE_PUBLIC_URL: `http://127.0.0.1:${own}`,
    SIGNALBOX_BUS_URL: natsUrl(ports.nats, passwords.nats),
    SIGNALBOX_DATABASE_URL: databaseUrl,
    SIGNALBOX_SECRET_KEY_FILE: path.join(folder, 'secret.key'),
    SIGNALBOX_TRUST_PROXY: '127.0.0.1',
    // The balancer looks every second, twice.
    SIGNALBOX_DRAIN_SECONDS: '3',
    SIGNALBOX_SANDBOX_LISTEN: `127.0.0.1:${sandbox}`,
    SIGNALBOX_FORWARD_HOST: '127.0.0.1',
    SIGNALBOX_FORWARD_LISTEN: '127.0.0.1',
    SIGNALBOX_FORWARD_PORTS: `${forwards.first}-${forwards.last}`,
    // Allows loopback as source, as target and as receiver of webhooks.
    SIGNALBOX_ALLOW_PRIVATE_SOURCES: 'on',
    SIGNALBOX_ALLOW_LOOPBACK_WEBHOOKS: 'on',
    SIGNALBOX_SMTP_URL: smtpUrl ?? `smtp://127.0.0.1:${ports.mail}`,
    SIGNALBOX_MAIL_FROM: process.env['SIGNALBOX_MAIL_FROM'] ?? 'Signalbox demo <signalbox@example.test>',
  };
}

async function startCluster(): Promise<void> {
  await checkPorts(firstPort, listenedPorts, command);
  await rm(folder, { recursive: true, force: true });
  await mkdir(folder, { recursive: true });
  say(`Signalbox: ${baseUrl}/, in a moment. Sign in as ${admin.email} with the password ${admin.password}.\n`);
  say('Building the web application, unless it is there ...');
  await stage.node('scripts/build-console.ts', []);
  await stage.node('scripts/build-agent.ts', []);
  say('Starting PostgreSQL and nats-server ...');
  await startEngines();
  say('Starting three simulated routers, three control planes and the balancer ...');
  if (smtpUrl === undefined) mails = await MailFolder.start(mailFolder, ports.mail);
  for (const router of routers) stage.children.start(simulatorOf(router));
  await startNodes();
  stage.children.start(await prepareBalancer({ bin: installed.haproxy, folder, ports, names: nodes.map(({ name }) => name) }));
  await stage.until('the balancer leads to a control plane', () => isOk(`${baseUrl}/readyz`));

  say('Creating a team, an admin, an API key and three agents ...');
  const { teamId, apiKey } = await createTeam(stage, 'Demo');
  await proveEmail(databaseUrl, admin.email);
  const [service, key, ...tokens] = await Promise.all([
    stage.signalbox('service-token', 'create', 'demo'),
    // Of its own: nobody shall find the limit of the other one used up.
    stage.signalbox('key', 'create', '--team', teamId, '--name', 'start of the cluster'),
    ...routers.map(() => stage.signalbox('enrol-token', 'create', '--team', teamId)),
  ]);
  const startKey = text(key, 'api_key');
  await makeGroup(baseUrl, startKey, admin.email);
  await Promise.all(
    routers.map((router, index) =>
      startAgent(stage, { name: `agent-${index + 1}`, server: baseUrl, token: text(tokens[index]!, 'token'), routers: [router] }),
    ),
  );

  say('Waiting for the routers ...');
  const listed = await stage.until('all routers answer', () => answeringRouters(startKey), 2000);
  told = describe(apiKey, text(service, 'token'), listed);
  await writeClusterFile();
  requests = answerRequests(folder, over.signal, (name) => stage.children.revive(name));
  printHelp(apiKey, listed);
}

async function startEngines(): Promise<void> {
  const own = { folder, port: ports.postgres, password: passwords.postgres };
  const server = await Postgres.prepare({ bin: installed.postgres, ...own });
  postgres = server;
  stage.children.start(server.program);
  const nats = await prepareNats({ bin: installed.nats, folder, port: ports.nats, password: passwords.nats });
  stage.children.start(nats);
  await stage.until('PostgreSQL accepts connections', () => server.isReady());
  await stage.until('nats-server accepts connections', () => accepts(ports.nats));
}

/** The first one makes the tables and the keys. */
async function startNodes(): Promise<void> {
  const [first, ...others] = nodes;
  startNode(first!);
  await stage.until(`${first!.name} is ready`, () => isOk(`${first!.base_url}/readyz`));
  for (const node of others) startNode(node);
  for (const node of others) await stage.until(`${node.name} is ready`, () => isOk(`${node.base_url}/readyz`));
}

function startNode(node: Node): void {
  stage.children.start({
    name: node.name,
    file: 'server/main.ts',
    args: ['serve'],
    env: node.env,
    ifItEnds: 'stay',
    group: 'nodes',
    onStarted: (pid) => {
      node.pid = pid ?? null;
      if (told) void writeClusterFile();
    },
  });
}

/** @returns undefined while one of them does not answer a command through the balancer */
async function answeringRouters(key: string): Promise<ListedRouter[] | undefined> {
  const known = await listKnown(baseUrl, key);
  const ids = routers.map(({ identity }) => idOf(known, identity));
  const answers = await Promise.all(ids.map(async (id) => id !== '' && answersCommand(key, id)));
  return answers.includes(false) ? undefined : known;
}

async function answersCommand(key: string, routerId: string): Promise<boolean> {
  const answer = await fetch(`${baseUrl}/api/synchronous/${routerId}`, {
    method: 'POST',
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
    body: JSON.stringify({ command: '/system/identity/print', parameters: '' }),
  });
  await answer.body?.cancel();
  return answer.ok;
}

async function isOk(url: string): Promise<boolean> {
  return (await fetch(url, { signal: AbortSignal.timeout(2000) })).ok;
}

function describe(apiKey: string, internalToken: string, listed: ListedRouter[]): object {
  return {
    base_url: baseUrl,
    sandbox_url: `http://127.0.0.1:${ports.sandbox}`,
    console_url: `${baseUrl}/`,
    admin_email: admin.email,
    admin_password: admin.password,
    api_key: apiKey,
    internal_token: internalToken,
    env: stage.env,
    routers: describeRouters(routers, listed),
    supervisor_pid: process.pid,
  };
}

/** Whole at every moment: others read it at any time. */
async function writeClusterFile(): Promise<void> {
  const file = path.join(folder, 'cluster.json');
  const content = { ...told, nodes: nodes.map(({ name, base_url, pid }) => ({ name, base_url, pid })) };
  const draft = `${file}.${randomBytes(4).toString('hex')}`;
  await writeFile(draft, `${JSON.stringify(content, null, 2)}\n`, { mode: 0o600 });
  await rename(draft, file);
}

function printHelp(apiKey: string, listed: ListedRouter[]): void {
  const id = idOf(listed, routers[0]!.identity);
  const curl = `curl -s -H 'Authorization: Bearer ${apiKey}'`;
  const json = `-H 'Content-Type: application/json'`;
  const ask = `-d '{"command":"/system/identity/print","parameters":""}'`;
  const [first, second] = nodes as [Node, Node];
  say(`
Three control planes are running. Open ${baseUrl}/ and sign in as ${admin.email} with the password ${admin.password}.
The balancer is at ${baseUrl}, the API's description at ${baseUrl}/docs. Everything else is in ${path.relative(root, folder)}/cluster.json.
${nodes.map(({ name, base_url: url, pid }) => `   ${name}  ${url}  process ${pid}`).join('\n')}

1. The routers, whichever control plane is asked:
   ${curl} ${baseUrl}/api/routers
2. The same router through each control plane. Its agent is connected to one of them:
${nodes.map(({ base_url: url }) => `   ${curl} ${json} ${url}/api/synchronous/${id} ${ask}`).join('\n')}
3. Kill a control plane. Its agents are back at another one within seconds, and nothing is lost:
   kill -9 ${second.pid}
   ${curl} ${baseUrl}/api/routers
4. Start it again, from another terminal:
   ${command} -- revive ${second.name}
5. Freeze a control plane. The others do not count on it after 10 seconds; nothing that it says later is believed:
   kill -STOP ${first.pid}; sleep 30; kill -CONT ${first.pid}
6. The members, and which agents each has:
   npx signalbox nodes, with the variables of "env" in cluster.json

Logs of all programs are in ${path.relative(root, folder)}/. ${smtpUrl === undefined ? `Mails are files in ${path.relative(root, mailFolder)}/. ` : ''}docs/cluster.md says what is guaranteed.

Ctrl-C ends the cluster.`);
}

async function orExit<T>(code: number, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    process.stderr.write(`cluster: ${error instanceof Error ? error.message : String(error)}\n`);
    process.exit(code);
  }
}
