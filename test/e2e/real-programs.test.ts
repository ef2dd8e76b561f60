import { execFile, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { chmod, mkdtemp, rm, writeFile } from 'node:fs/promises';
import http from 'node:http';
import net from 'node:net';
import type { AddressInfo } from 'node:net';
import os from 'node:os';
import path from 'node:path';
import process from 'node:process';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest';
import { askForServer } from '../harness/databases.ts';
import { World } from '../harness/world.ts';

const run = promisify(execFile);

/** Programs nobody here wrote, used through forwards as their users would. */
const has = (program: string): boolean => spawnSync('which', [program]).status === 0;
for (const program of ['curl', 'ssh', 'psql']) {
  if (!has(program)) process.stderr.write(`${program} is not installed: its test is skipped\n`);
}

let world: World;
let routerId: string;
let folder: string;
const servers: net.Server[] = [];

beforeAll(async () => {
  folder = await mkdtemp(path.join(os.tmpdir(), 'signalbox-programs-'));
  world = await World.start();
  [routerId] = (await world.routerIds()) as [string];
});

afterAll(async () => {
  await world.close();
  for (const server of servers) server.close();
  await rm(folder, { recursive: true, force: true });
});

async function listen(server: net.Server | http.Server): Promise<number> {
  servers.push(server);
  server.listen(0);
  await once(server, 'listening');
  return (server.address() as AddressInfo).port;
}

/** The entry port of a new forward. 127.0.0.5 is behind the router, 127.0.0.1 the router itself. */
async function forward(address: string, port: number, way: string): Promise<string> {
  const { status, body } = await world.caller.call<{ port: number; way: string; target_reachable: boolean }>(
    'POST',
    `/api/routers/${routerId}/transient-forwarding`,
    { expire_after_minutes: 10, dst_port: port, dst_address: address, allow_from: '127.0.0.1' },
  );
  expect({ status, way: body.way, target_reachable: body.target_reachable }).toEqual({ status: 200, way, target_reachable: true });
  return String(body.port);
}

describe.each([
  ['the router itself', '127.0.0.1', 'direct'],
  ['a host behind the router', '127.0.0.5', 'ssh'],
])('to %s', (_name, address, way) => {
  test.runIf(has('curl'))('curl downloads and uploads with several requests on one connection', async () => {
    const big = Buffer.alloc(5_000_000, 'x');
    const port = await forward(
      address,
      await listen(
        http.createServer((request, response) => {
          let size = 0;
          request.on('data', (chunk: Buffer) => (size += chunk.length));
          request.on('end', () => response.end(request.method === 'PUT' ? `got ${size}` : big));
        }),
      ),
      way,
    );
    const file = path.join(folder, `big-${way}`);
    await writeFile(file, big);
    const url = `http://127.0.0.1:${port}/`;
    const { stdout } = await run('curl', [
      '-sS',
      '--max-time',
      '20',
      '-o',
      `${file}.got`,
      url,
      '-o',
      `${file}.got2`,
      `${url}again`,
      '-w',
      '%{size_download} %{num_connects}\n',
    ]);
    expect(stdout).toBe('5000000 1\n5000000 0\n');
    expect((await run('curl', ['-sS', '--max-time', '20', '-T', file, url])).stdout).toBe('got 5000000');
  });

  test.runIf(has('psql') && inject('postgresPort') !== 0)('psql queries a database', async () => {
    const socketFolder = await askForServer(inject('postgresPort'));
    const database = net.createServer({ allowHalfOpen: true }, (client) => {
      const server = net.connect({ path: path.join(socketFolder, '.s.PGSQL.5432'), allowHalfOpen: true });
      client.pipe(server).pipe(client);
      for (const socket of [client, server]) socket.on('error', () => socket.destroy());
    });
    const port = await forward(address, await listen(database), way);
    const { stdout } = await run(
      'psql',
      ['-h', '127.0.0.1', '-p', port, '-U', 'signalbox', '-d', 'postgres', '-Atc', "select repeat('x', 100000) || 6 * 7"],
      { timeout: 120_000, env: { PATH: process.env['PATH'] } },
    );
    expect(stdout.trim()).toBe(`${'x'.repeat(100_000)}42`);
  });

  test.runIf(has('ssh'))('ssh logs in to a router', async () => {
    const askPass = path.join(folder, 'ask-pass');
    await writeFile(askPass, '#!/bin/sh\necho router-password\n');
    await chmod(askPass, 0o700);
    const sshPort = world.simulators[0]!.sshPort;
    // Listens on every address, so that it is also found behind the router.
    const relay = net.createServer({ allowHalfOpen: true }, (client) => {
      const server = net.connect({ port: sshPort, host: '127.0.0.1', allowHalfOpen: true });
      client.pipe(server).pipe(client);
      for (const socket of [client, server]) socket.on('error', () => socket.destroy());
    });
    const port = await forward(address, await listen(relay), way);
    const options = [
      'StrictHostKeyChecking=no',
      'UserKnownHostsFile=/dev/null',
      'LogLevel=ERROR',
      'ConnectTimeout=10',
      'PubkeyAuthentication=no',
    ];
    const { stdout } = await run(
      'ssh',
      [...options.flatMap((option) => ['-o', option]), '-p', port, 'signalbox@127.0.0.1', ':put [/system identity get name]'],
      { timeout: 120_000, env: { PATH: process.env['PATH'], DISPLAY: 'none', SSH_ASKPASS: askPass, SSH_ASKPASS_REQUIRE: 'force' } },
    );
    expect(stdout.trim()).toBe('router-0');
  });
});
