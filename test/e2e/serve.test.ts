import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import net, { type AddressInfo } from 'node:net';
import os from 'node:os';
import path from 'node:path';
import process from 'node:process';
import { createInterface } from 'node:readline';
import { afterEach, beforeEach, expect, test } from 'vitest';

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

test.each(['SIGTERM', 'SIGINT'] as const)('serves until %s, then ends in order', async (signal) => {
  const served = serve();
  const address = await addressOf(served);
  expect((await fetch(`${address}/api/routers`)).status).toBe(401);
  served.child.kill(signal);
  expect(await served.ended).toBe(0);
  expect(served.stderr()).toBe('');
});

test('a port that is taken ends it with 1 and a reason', async () => {
  const taken = net.createServer().listen(0, '127.0.0.1');
  await once(taken, 'listening');
  const served = serve({ SIGNALBOX_LISTEN: `127.0.0.1:${(taken.address() as AddressInfo).port}` });
  expect(await served.ended).toBe(1);
  expect(served.stderr()).toMatch(/^signalbox: .*EADDRINUSE.*\n$/);
  taken.close();
});

test('a signal during the start is not lost', async () => {
  const served = serve();
  await once(served.child, 'spawn');
  const database = path.join(folder, 'box.db');
  await expect.poll(() => existsSync(database), { timeout: 20_000 }).toBe(true);
  served.child.kill('SIGTERM');
  expect(await served.ended).toBe(0);
});
