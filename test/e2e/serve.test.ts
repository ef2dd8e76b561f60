import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import net, { type AddressInfo } from 'node:net';
import os from 'node:os';
import path from 'node:path';
import process from 'node:process';
import { createInterface } from 'node:readline';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { createSelfSigned } from '../simulator/certificate.ts';

/** `signalbox serve` as a program of its own. */
interface Served {
  child: ChildProcess;
  /** The exit code, once it has ended. */
  ended: Promise<number | null>;
  stderr: () => string;
}

let folder: string;
let children: ChildProcess[];

beforeEach(async () => {
  children = [];
  folder = await mkdtemp(path.join(os.tmpdir(), 'signalbox-serve-'));
});
afterEach(async () => {
  for (const child of children) child.kill('SIGKILL');
  await rm(folder, { recursive: true, force: true });
});

function serve(settings: Record<string, string> = {}): Served {
  const child = spawn(process.execPath, ['server/main.ts', 'serve'], {
    env: {
      ...process.env,
      SIGNALBOX_LISTEN: '127.0.0.1:0',
      SIGNALBOX_SANDBOX_LISTEN: '',
      SIGNALBOX_DATABASE_URL: `sqlite:${folder}/box.db`,
      SIGNALBOX_SECRET_KEY_FILE: `${folder}/secret.key`,
      ...settings,
    },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  children.push(child);
  let stderr = '';
  child.stderr.on('data', (chunk: Buffer) => (stderr += chunk.toString()));
  const ended = once(child, 'exit').then(([code]) => code as number | null);
  return { child, ended, stderr: () => stderr };
}

/** The address that its log names once it listens. */
async function addressOf({ child, ended, stderr }: Served): Promise<string> {
  const found = Promise.withResolvers<string>();
  createInterface({ input: child.stdout! }).on('line', (line) => {
    const address = /"source":"(http[^"]+)"/.exec(line)?.[1];
    if (address !== undefined) found.resolve(address);
  });
  const failed = ended.then((code) => Promise.reject(new Error(`ended with ${code}: ${stderr()}`)));
  return Promise.race([found.promise, failed]);
}

test.each(['SIGTERM', 'SIGINT'] as const)('serves until %s, then shuts down cleanly', async (signal) => {
  const served = serve();
  const address = await addressOf(served);
  expect((await fetch(`${address}/api/routers`)).status).toBe(401);
  served.child.kill(signal);
  expect(await served.ended).toBe(0);
  expect(served.stderr()).toBe('');
});

test('exits with 1 and the reason when its port is in use', async () => {
  const taken = net.createServer().listen(0, '127.0.0.1');
  await once(taken, 'listening');
  const served = serve({ SIGNALBOX_LISTEN: `127.0.0.1:${(taken.address() as AddressInfo).port}` });
  expect(await served.ended).toBe(1);
  expect(served.stderr()).toMatch(/^signalbox: .*EADDRINUSE.*\n$/);
  taken.close();
});

test('exits with 1, the setting and the reason when certificate or key cannot be used', async () => {
  const [own, other] = [await createSelfSigned('own'), await createSelfSigned('other')];
  const file = async (name: string, content: string): Promise<string> => {
    await writeFile(path.join(folder, name), content);
    return path.join(folder, name);
  };
  const cert = await file('cert.pem', own.cert);
  const key = await file('key.pem', own.key);
  const refusals = [
    { cert: path.join(folder, 'none.pem'), key, says: /SIGNALBOX_TLS_CERT_FILE: \S+none\.pem cannot be read: ENOENT/ },
    { cert, key: folder, says: /SIGNALBOX_TLS_KEY_FILE: \S+ cannot be read: EISDIR/ },
    { cert: key, key, says: /SIGNALBOX_TLS_CERT_FILE: \S+key\.pem holds no certificate/ },
    { cert, key: cert, says: /SIGNALBOX_TLS_KEY_FILE: \S+cert\.pem holds no private key/ },
    {
      cert,
      key: await file('other.pem', other.key),
      says: /SIGNALBOX_TLS_KEY_FILE: \S+other\.pem is not the key of the certificate in \S+cert\.pem/,
    },
  ];
  await Promise.all(
    refusals.map(async ({ cert: certFile, key: keyFile, says }, index) => {
      const served = serve({
        SIGNALBOX_TLS_CERT_FILE: certFile,
        SIGNALBOX_TLS_KEY_FILE: keyFile,
        SIGNALBOX_DATABASE_URL: `sqlite:${folder}/${index}.db`,
      });
      expect(await served.ended).toBe(1);
      expect(served.stderr()).toMatch(says);
      expect(served.stderr().split('\n')).toHaveLength(2);
    }),
  );
  const served = serve({ SIGNALBOX_TLS_CERT_FILE: cert, SIGNALBOX_TLS_KEY_FILE: key });
  expect(await addressOf(served)).toMatch(/^https:/);
});

test('handles a signal during the start', async () => {
  const served = serve();
  await once(served.child, 'spawn');
  const database = path.join(folder, 'box.db');
  await expect.poll(() => existsSync(database)).toBe(true);
  served.child.kill('SIGTERM');
  expect(await served.ended).toBe(0);
});
