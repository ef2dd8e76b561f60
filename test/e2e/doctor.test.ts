import { chmod, mkdtemp, rm, writeFile } from 'node:fs/promises';
import net from 'node:net';
import os from 'node:os';
import path from 'node:path';
import { once } from 'node:events';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { runCli } from '../../server/cli/run.ts';
import { startServer } from '../../server/compose/start.ts';
import { loadConfig } from '../../server/config.ts';
import { freePort } from '../harness/installation.ts';
import { silentLog } from '../harness/silent-log.ts';
import { createSelfSigned } from '../simulator/certificate.ts';

interface Finding {
  check: string;
  state: string;
  detail: string;
}

let folder: string;
let env: Record<string, string>;

beforeEach(async () => {
  folder = await mkdtemp(path.join(os.tmpdir(), 'signalbox-doctor-'));
  const port = await freePort();
  env = {
    SIGNALBOX_LISTEN: `127.0.0.1:${port}`,
    SIGNALBOX_PUBLIC_URL: `http://127.0.0.1:${port}`,
    SIGNALBOX_SANDBOX_LISTEN: '',
    SIGNALBOX_DATABASE_URL: `sqlite:${path.join(folder, 'signalbox.db')}`,
    SIGNALBOX_SECRET_KEY_FILE: path.join(folder, 'secret.key'),
    SIGNALBOX_FORWARD_PORTS: '29000-29010',
  };
});
afterEach(() => rm(folder, { recursive: true, force: true }));

async function run(...words: string[]): Promise<{ code: number; stdout: string }> {
  let stdout = '';
  const code = await runCli(words, { env, stdout: (text) => void (stdout += text), stderr: () => undefined });
  return { code, stdout };
}

async function findings(): Promise<{ code: number; of: (check: string) => Finding | undefined; all: Finding[] }> {
  const { code, stdout } = await run('doctor', '--json');
  const { findings: all } = JSON.parse(stdout) as { findings: Finding[] };
  return { code, all, of: (check) => all.find((finding) => finding.check === check) };
}

/** Starts a server once, so that the database has tables and secrets. */
async function serveOnce(): Promise<void> {
  const server = await startServer(await loadConfig(env), { log: silentLog });
  await server.close();
}

describe('signalbox doctor', () => {
  test('finds nothing wrong before the first start and creates neither tables nor key', async () => {
    const { code, all } = await findings();
    expect(code).toBe(0);
    expect(all.filter(({ state }) => state === 'FAIL')).toEqual([]);
    expect(all.find(({ check }) => check === 'database')?.detail).toContain('empty');
    expect(all.find(({ check }) => check === 'secret key')?.detail).toContain('the first start creates');
    expect((await findings()).of('database')?.detail).toContain('empty');
  });

  test('prints a table', async () => {
    // A clone in which nothing was built yet has a row for each part that is missing.
    expect((await run('doctor')).stdout).toMatch(/^ok {4}configuration {2,}all settings are valid\n(?:WARN {2}build .*\n)*ok {4}database/);
  });

  test('recognises the running control plane on its port', async () => {
    const server = await startServer(await loadConfig(env), { log: silentLog });
    try {
      const found = await findings();
      expect(found.code).toBe(0);
      expect(found.of('API port')).toMatchObject({ state: 'ok', detail: expect.stringContaining('the control plane is running') });
      expect(found.of('public URL')).toMatchObject({ state: 'ok' });
    } finally {
      await server.close();
    }
  });

  test('reports another program that uses the port', async () => {
    const other = net.createServer((socket) => socket.destroy()).listen(Number(env['SIGNALBOX_LISTEN']!.split(':')[1]), '127.0.0.1');
    await once(other, 'listening');
    const { code, of } = await findings();
    expect(code).toBe(1);
    expect(of('API port')).toMatchObject({ state: 'FAIL', detail: expect.stringContaining('EADDRINUSE') });
    other.close();
  });

  test('reports every error of the configuration', async () => {
    env = { ...env, SIGNALBOX_LISTEN: 'nowhere', SIGNALBOX_COLOUR: 'blue' };
    const { code, all } = await findings();
    expect(code).toBe(1);
    expect(all.map(({ detail }) => detail).join('\n')).toMatch(
      /SIGNALBOX_LISTEN[\s\S]*SIGNALBOX_COLOUR|SIGNALBOX_COLOUR[\s\S]*SIGNALBOX_LISTEN/,
    );
  });

  test('warns of a proxy that is not trusted', async () => {
    env['SIGNALBOX_PUBLIC_URL'] = 'https://127.0.0.1:1';
    const { of } = await findings();
    expect(of('configuration')).toMatchObject({ state: 'WARN', detail: expect.stringContaining('SIGNALBOX_TRUST_PROXY') });
  });

  test('reports a missing secret key, and one that other users can read', async () => {
    await serveOnce();
    await chmod(env['SIGNALBOX_SECRET_KEY_FILE']!, 0o644);
    expect((await findings()).of('secret key')).toMatchObject({ state: 'WARN', detail: expect.stringContaining('chmod 600') });
    await rm(env['SIGNALBOX_SECRET_KEY_FILE']!);
    const { code, of } = await findings();
    expect(code).toBe(1);
    expect(of('secret key')).toMatchObject({ state: 'FAIL', detail: expect.stringContaining('is missing') });
  });

  test('checks the certificate against the host of the public URL', async () => {
    const { cert, key } = await createSelfSigned('control plane');
    await writeFile(path.join(folder, 'cert.pem'), cert);
    await writeFile(path.join(folder, 'key.pem'), key);
    env = { ...env, SIGNALBOX_TLS_CERT_FILE: path.join(folder, 'cert.pem'), SIGNALBOX_TLS_KEY_FILE: path.join(folder, 'key.pem') };
    env['SIGNALBOX_PUBLIC_URL'] = 'https://elsewhere.invalid:1';
    expect((await findings()).of('certificate')).toMatchObject({
      state: 'FAIL',
      detail: expect.stringContaining('is not valid for elsewhere.invalid'),
    });
    await writeFile(path.join(folder, 'key.pem'), 'nothing');
    expect((await findings()).of('certificate')).toMatchObject({
      state: 'FAIL',
      detail: expect.stringContaining('SIGNALBOX_TLS_KEY_FILE'),
    });
  });

  test('reports an unreachable database', async () => {
    env['SIGNALBOX_DATABASE_URL'] = 'postgres://nobody@127.0.0.1:1/none';
    const { code, of } = await findings();
    expect(code).toBe(1);
    expect(of('database')).toMatchObject({ state: 'FAIL', detail: expect.stringContaining('ECONNREFUSED') });
  });
});

describe('a start without the right secret key', () => {
  test('is refused before anything listens, and writes no key', async () => {
    await serveOnce();
    await rm(env['SIGNALBOX_SECRET_KEY_FILE']!);
    await expect(loadConfig(env).then((config) => startServer(config, { log: silentLog }))).rejects.toMatchObject({
      code: 'invalid',
      message: expect.stringContaining('is missing'),
    });
    const server = net.createServer().listen(Number(env['SIGNALBOX_LISTEN']!.split(':')[1]), '127.0.0.1');
    await once(server, 'listening');
    server.close();
    expect((await findings()).of('secret key')?.state).toBe('FAIL');
  });

  test('works after secret-key forget', async () => {
    await serveOnce();
    await rm(env['SIGNALBOX_SECRET_KEY_FILE']!);
    expect((await run('secret-key', 'forget')).code).toBe(2);
    expect((await run('secret-key', 'forget', '--confirm', 'LOST')).code).toBe(0);
    await serveOnce();
  });
});

test('an export and the secret key file restore a control plane', async () => {
  await serveOnce();
  await run('team', 'create', 'Kept');
  const key = JSON.parse((await run('key', 'create', '--team', 'Kept', '--name', 'kept', '--json')).stdout) as { api_key: string };
  const file = path.join(folder, 'export.jsonl');
  expect((await run('export', file)).code).toBe(0);
  env['SIGNALBOX_DATABASE_URL'] = `sqlite:${path.join(folder, 'restored.db')}`;
  expect((await run('import', file)).code).toBe(0);
  expect((await findings()).code).toBe(0);
  const server = await startServer(await loadConfig(env), { log: silentLog });
  try {
    const answer = await fetch(`${server.url}/api/me`, { headers: { authorization: `Bearer ${key.api_key}` } });
    expect(await answer.json()).toMatchObject({ data: { team: { name: 'Kept' } } });
  } finally {
    await server.close();
  }
});
