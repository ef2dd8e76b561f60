import { once } from 'node:events';
import { cp, mkdtemp, symlink } from 'node:fs/promises';
import net from 'node:net';
import os from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';

const root = path.resolve(path.dirname(fileURLToPath(import.meta.url)), '../..');
/** What `scripts/demo.ts` needs: the demo writes beside it, and must not replace one that somebody runs here. */
const PARTS = [
  'agent',
  'client',
  'console',
  'package-lock.json',
  'package.json',
  'protocol',
  'routeros-text',
  'runtime',
  'scripts',
  'server',
  'systemd',
  'test/simulator',
  'tsconfig.json',
];
/** API, sandbox, and two of each router. */
const PORTS = 6;

/** A folder from which the demo can be started, without one of its own. */
export async function copyDemo(): Promise<string> {
  const folder = await mkdtemp(path.join(os.tmpdir(), 'signalbox-demo-'));
  for (const part of PARTS) await cp(path.join(root, part), path.join(folder, part), { recursive: true });
  await symlink(path.join(root, 'node_modules'), path.join(folder, 'node_modules'));
  return folder;
}

/** The file of a program in it, as `Program` takes it. */
export function demoFile(folder: string, file: string): string {
  return path.relative(root, path.join(folder, file));
}

/** The first of as many neighbouring ports as the demo listens on, below those that the system hands out. */
export async function freeDemoPorts(from = 21_000): Promise<number> {
  for (let first = from; first < 32_000; first += 500) {
    const isFree = await Promise.all(Array.from({ length: PORTS }, (_, i) => canListen(first + i)));
    if (!isFree.includes(false)) return first;
  }
  throw new Error('no ports are free for the demo');
}

async function canListen(port: number): Promise<boolean> {
  const server = net.createServer().listen(port, '127.0.0.1');
  try {
    await once(server, 'listening');
  } catch {
    return false;
  }
  server.close();
  await once(server, 'close');
  return true;
}
