import { execFile } from 'node:child_process';
import { once } from 'node:events';
import http from 'node:http';
import type { AddressInfo } from 'node:net';
import { promisify } from 'node:util';
import { randomBytes } from 'node:crypto';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { runCli } from '../../client/cli/run.ts';
import { Program } from '../harness/program.ts';
import { waitUntil } from '../harness/wait-until.ts';
import { World } from '../harness/world.ts';

/** `signalbox forward`: a local port that leads behind a router, over nothing but the API's port. */
let world: World;
let routerId: string;
const page = randomBytes(3_000_000);
const target = http.createServer((_request, response) => response.end(page));

beforeAll(async () => {
  world = await World.start();
  routerId = (await world.routerIds())[0]!;
  target.listen(0, '127.0.0.1');
  await once(target, 'listening');
});
afterAll(async () => {
  target.close();
  await world.close();
});

function program(...options: string[]): Program {
  const { port } = target.address() as AddressInfo;
  const words = ['forward', '--router', 'router-0', '--to', `127.0.0.1:${port}`, ...options];
  return new Program('client/main.ts', words, { SIGNALBOX_SERVER: world.server.url, SIGNALBOX_KEY: world.caller.apiKey });
}

interface Forward {
  closed_at: string | null;
  revoked_early: boolean;
  allow_only_cidr: string;
}

async function newest(): Promise<Forward> {
  return (await world.caller.call<{ data: Forward[] }>('GET', `/api/routers/${routerId}/transient-forwarding`)).body.data[0]!;
}

test('curl reads through the local port, and Ctrl-C leaves no open forward', async () => {
  const cli = program('--listen', '127.0.0.1:0');
  cli.start();
  try {
    const [, port] = await waitUntil('the local port is open', () => /127\.0\.0\.1:(\d+) leads to .*Ctrl-C/.exec(cli.output) ?? undefined);
    const get = (): Promise<{ stdout: Buffer }> =>
      promisify(execFile)('curl', ['-sS', '--max-time', '10', `http://127.0.0.1:${port}/`], { encoding: 'buffer', maxBuffer: 10_000_000 });
    const answers = await Promise.all([get(), get(), get()]);
    for (const { stdout } of answers) expect(stdout.equals(page)).toBe(true);
    expect(cli.output).toMatch(/60 min left, 0 connections open, 0 in total/);
    expect(await newest()).toMatchObject({ closed_at: null, allow_only_cidr: '192.0.2.1/32' });
  } finally {
    expect(await cli.interrupt(), cli.output).toBe(130);
  }
  expect(cli.output).toMatch(/the forward is closed\n$/);
  expect(await newest()).toMatchObject({ closed_at: expect.any(String), revoked_early: true });
});

test('a local port in use is an error and leaves no open forward', async () => {
  const { port } = target.address() as AddressInfo;
  const said: string[] = [];
  const code = await runCli(['forward', '--router', routerId, '--to', '127.0.0.1:80', '--listen', `127.0.0.1:${port}`], {
    stdout: () => undefined,
    stderr: (text) => void said.push(text),
    readInput: async () => '',
    env: { SIGNALBOX_SERVER: world.server.url, SIGNALBOX_KEY: world.caller.apiKey },
    signal: new AbortController().signal,
    columns: 100,
  });
  expect({ code, said: said.join('') }).toMatchObject({ code: 1, said: expect.stringContaining('EADDRINUSE') });
  expect((await newest()).revoked_early).toBe(true);
});
