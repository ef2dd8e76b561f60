import { mkdir, writeFile } from 'node:fs/promises';
import net from 'node:net';
import path from 'node:path';
import { once } from 'node:events';
import type { Program } from '../demo/children.ts';

export interface NatsOptions {
  bin: string;
  folder: string;
  port: number;
  password: string;
}

/** A nats-server with JetStream on loopback, with a password. The caller starts it. */
export async function prepareNats({ bin, folder, port, password }: NatsOptions): Promise<Program> {
  const file = path.join(folder, 'nats.conf');
  const store = path.join(folder, 'nats');
  await mkdir(store);
  const lines = [
    'host: 127.0.0.1',
    `port: ${port}`,
    'authorization {',
    '  user: signalbox',
    `  password: "${password}"`,
    '}',
    'jetstream {',
    `  store_dir: ${JSON.stringify(store)}`,
    '  max_memory_store: 256MB',
    '  max_file_store: 256MB',
    '}',
  ];
  await writeFile(file, `${lines.join('\n')}\n`, { mode: 0o600 });
  return { name: 'nats-server', command: [bin, '-c', file], ifItEnds: 'restart' };
}

export function natsUrl(port: number, password: string): string {
  return `nats://signalbox:${password}@127.0.0.1:${port}`;
}

export async function accepts(port: number): Promise<boolean> {
  const socket = net.connect(port, '127.0.0.1');
  try {
    await once(socket, 'connect');
    return true;
  } finally {
    socket.destroy();
  }
}
