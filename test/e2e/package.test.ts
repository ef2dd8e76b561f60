import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { readdir, readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import process from 'node:process';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { SERVER_VERSION } from '../../server/version.ts';
import { freePort } from '../harness/installation.ts';
import { Packaged, SYSTEM_PATH } from '../harness/packaged.ts';
import { waitUntil } from '../harness/wait-until.ts';
import { startSimulator } from '../simulator/index.ts';
import type { Simulator } from '../simulator/index.ts';

/**
 * From one file to a router's answer, as a user installs it: no checkout, no development packages, and whatever Node the machine has.
 */

let packaged: Packaged | undefined;
let url: string;
let env: Record<string, string>;
let router: Simulator;

beforeAll(async () => {
  packaged = await Packaged.install();
  if (!packaged) return;
  const port = await freePort();
  url = `http://127.0.0.1:${port}`;
  env = {
    SIGNALBOX_LISTEN: `127.0.0.1:${port}`,
    SIGNALBOX_SANDBOX_LISTEN: '',
    // It is asked again and again whether the router answers.
    SIGNALBOX_RATE_LIMIT_PER_MINUTE: '100000',
    SIGNALBOX_DATABASE_URL: `sqlite:${path.join(packaged.folder, 'signalbox.db')}`,
    SIGNALBOX_SECRET_KEY_FILE: path.join(packaged.folder, 'secret.key'),
  };
  router = await startSimulator({ identity: 'packed', users: [{ name: 'signalbox', password: "it's secret" }] });
}, 600_000);
afterAll(async () => {
  await router?.close();
  await packaged?.close();
});

test('one file serves everything, and hands out the agent that makes a router answer', async (context) => {
  if (!packaged) return context.skip('the npm registry cannot be reached, and npm has not kept the packages');
  const admin = async (...args: string[]): Promise<Record<string, string>> =>
    JSON.parse(await packaged!.run('signalbox', [...args, '--json'], env)) as Record<string, string>;

  const { id: team } = await admin('team', 'create', 'Packed');
  const server = packaged.start('signalbox', ['serve'], env);
  const ended = once(server, 'exit');
  await waitUntil('the control plane answers', async () => (await fetch(`${url}/healthz`).catch(() => undefined))?.ok);
  expect(await (await fetch(`${url}/healthz`)).json()).toEqual({ status: 'ok', version: SERVER_VERSION });

  const page = await (await fetch(`${url}/`, { headers: { accept: 'text/html' } })).text();
  const assets = [...page.matchAll(/(?:src|href)="(\/assets\/[^"]+)"/g)].map(([, asset]) => asset!);
  expect(assets.length).toBeGreaterThanOrEqual(2);
  for (const asset of assets) {
    const answer = await fetch(url + asset, { headers: { 'accept-encoding': 'br' } });
    const { byteLength } = await answer.arrayBuffer();
    // Files of one packet are not compressed.
    const encoding = /[.](?:js|css)$/.test(asset) && byteLength >= 1400 ? 'br' : null;
    expect([asset, answer.status, answer.headers.get('content-encoding')]).toEqual([asset, 200, encoding]);
  }
  expect((await fetch(`${url}/openapi.json`)).status).toBe(200);

  const passwordFile = path.join(packaged.folder, 'password');
  await writeFile(passwordFile, 'correct horse battery');
  await admin('user', 'create', 'ada@example.org', '--team', team!, '--role', 'admin', '--password-file', passwordFile);
  const { api_key: apiKey } = await admin('key', 'create', '--team', team!, '--name', 'packed');
  const { token } = await admin('enrol-token', 'create', '--team', team!);

  const release = (await (await fetch(`${url}/agent/release`)).json()) as { version: string; sha256: string; url: string };
  expect(release.version).toBe(SERVER_VERSION);
  const bundle = Buffer.from(await (await fetch(release.url)).arrayBuffer());
  expect(createHash('sha256').update(bundle).digest('hex')).toBe(release.sha256);

  const machine = await installAgent(packaged.folder, token!);
  const unit = await readFile(path.join(machine, 'etc/systemd/system/signalbox-agent.service'), 'utf8');
  const program = path.join(machine, 'opt/signalbox/signalbox-agent.cjs');
  expect(unit).toMatch(/^ExecStart=\/\S*node \/opt\/signalbox\/signalbox-agent[.]cjs run --config \/etc\/signalbox\/agent[.]yaml$/m);
  expect(await readFile(program)).toEqual(bundle);
  // The package's own command runs the same agent.
  const agent = packaged.start('signalbox-agent', ['run', '--config', path.join(machine, 'etc/signalbox/agent.yaml')]);
  const agentEnded = once(agent, 'exit');

  const call = async (method: string, route: string, body?: object): Promise<Response> =>
    fetch(url + route, {
      method,
      headers: { authorization: `Bearer ${apiKey}`, 'content-type': 'application/json' },
      ...(body ? { body: JSON.stringify(body) } : {}),
    });
  const id = await waitUntil('the router answers', async () => {
    const { data } = (await (await call('GET', '/api/routers')).json()) as { data: { id: string; has_pulse: boolean }[] };
    return data.find((one) => one.has_pulse)?.id;
  });
  const answer = await call('POST', `/api/synchronous/${id}`, { command: '/system/identity/print', parameters: '' });
  expect(await answer.text()).toContain('packed');
  expect(await packaged.run('signalbox', ['routers'], { SIGNALBOX_SERVER: url, SIGNALBOX_KEY: apiKey! })).toContain('packed');

  agent.kill('SIGTERM');
  expect(await agentEnded).toEqual([0, null]);
  server.kill('SIGTERM');
  expect(await ended).toEqual([0, null]);
});

test('holds JavaScript only, no development package, and no package with an install script', async (context) => {
  if (!packaged) return context.skip('the npm registry cannot be reached, and npm has not kept the packages');
  const { installed } = packaged;
  const own = await readdir(installed, { recursive: true });
  const files = own.filter((file) => !file.startsWith('node_modules'));
  expect(files.filter((file) => file.endsWith('.ts') || file.startsWith('test'))).toEqual([]);
  for (const name of ['vite', 'typescript', 'react', 'esbuild', 'ssh2', 'node-routeros', 'cpu-features'])
    expect([name, existsSync(path.join(installed, 'node_modules', name))]).toEqual([name, false]);
  const manifests = own.filter((file) => /^node_modules\/(?:@[^/]+\/)?[^/]+\/package[.]json$/.test(file));
  expect(manifests.length).toBeGreaterThan(50);
  for (const manifest of manifests) {
    const { name, scripts = {} } = JSON.parse(await readFile(path.join(installed, manifest), 'utf8')) as {
      name: string;
      scripts?: Record<string, string>;
    };
    const onInstall = ['preinstall', 'install', 'postinstall'].filter((script) => scripts[script] !== undefined);
    expect([name, onInstall]).toEqual([name, []]);
  }
});

/** As root would by `sh install.sh`, but below a folder. */
async function installAgent(folder: string, token: string): Promise<string> {
  const machine = path.join(folder, 'machine');
  const script = path.join(folder, 'install.sh');
  await writeFile(script, await (await fetch(`${url}/agent/install.sh`)).text());
  const password = path.join(folder, 'router-password');
  await writeFile(password, "it's secret\n");
  const args = ['--token', token, '--name', "depot's", '--router', '127.0.0.1', '--ssh-port', String(router.sshPort)];
  await promisify(execFile)('sh', [script, ...args, '--user', 'signalbox', '--password-file', password], {
    env: { DESTDIR: machine, PATH: `${path.dirname(process.execPath)}${path.delimiter}${SYSTEM_PATH}` },
    timeout: 60_000,
  });
  return machine;
}
