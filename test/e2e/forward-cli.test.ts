import type { Socket } from 'node:net';
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest';
import { ask, connectTo, endOf, TargetServer } from '../harness/byte-stream.ts';
import { ProcessWorld } from '../harness/process-world.ts';
import type { ShownForward } from '../harness/process-world.ts';
import { Program } from '../harness/program.ts';
import { waitUntil } from '../harness/wait-until.ts';

/** `signalbox forward` during a transfer: signals, broken terminals and a failing control plane. */
let world: ProcessWorld;
let target: TargetServer;
let cli: Program;
let localPort: number;

beforeAll(async () => {
  world = await ProcessWorld.start();
  target = await TargetServer.listen((socket) => socket.pipe(socket));
});
afterAll(async () => {
  target?.close();
  await world?.close();
});

const words = (): string[] => ['forward', '--router', 'router-0', '--to', `127.0.0.1:${target.port}`, '--listen', '127.0.0.1:0'];

beforeEach(() => start(new Program('client/main.ts', words(), { SIGNALBOX_SERVER: world.url, SIGNALBOX_KEY: world.apiKey })));
afterEach(() => cli.kill());

async function start(program: Program): Promise<void> {
  cli = program;
  cli.start({ group: true });
  const [, port] = await waitUntil('the local port is open', () => /127\.0\.0\.1:(\d+) leads to .*Ctrl-C/.exec(cli.output) ?? undefined);
  localPort = Number(port);
}

/** A transfer that goes on until somebody ends it. */
async function transfer(): Promise<Socket> {
  const socket = connectTo(localPort);
  let received = 0;
  socket.on('data', (data: Buffer) => {
    received += data.length;
    socket.write(data);
  });
  socket.write(Buffer.alloc(20_000));
  await waitUntil('bytes go round', () => received > 200_000);
  return socket;
}

async function newest(): Promise<ShownForward> {
  const { data } = await world.call<{ data: ShownForward[] }>('GET', `/api/routers/${world.routerIds[0]}/transient-forwarding`);
  return data[0]!;
}

const nobodyIsConnected = (): Promise<unknown> => waitUntil('the target is told', () => target.sockets.length === 0);

test.each(['SIGINT', 'SIGTERM', 'SIGHUP'] as const)('%s ends the transfer and revokes the forward', async (signal) => {
  const ended = endOf(await transfer());
  cli.signal(signal);
  await ended;
  await waitUntil('it has ended', () => !cli.isRunning);
  expect(cli.output).toMatch(/the forward is closed\n$/);
  expect(await newest()).toMatchObject({ revoked_early: true, closed_at: expect.any(String) });
  await nobodyIsConnected();
});

test.each(['SIGINT', 'SIGTERM', 'SIGHUP'] as const)(
  '%s from a terminal that the wrapper forwards as well closes the forward',
  async (signal) => {
    expect(await cli.interrupt()).toBe(130);
    await start(new Program('bin/signalbox.mjs', words(), { SIGNALBOX_SERVER: world.url, SIGNALBOX_KEY: world.apiKey }));
    const ended = endOf(await transfer());
    cli.signalGroup(signal);
    await ended;
    expect(await cli.ended()).toBe(130);
    expect(cli.output).toMatch(/the forward is closed\n$/);
    expect(await newest()).toMatchObject({ revoked_early: true, closed_at: expect.any(String) });
  },
);

test.each(['SIGTERM', 'SIGHUP'] as const)('a second %s during the shutdown changes nothing', async (signal) => {
  const code = cli.ended();
  // As a wrapper on a busy machine does; a program whose loop has run out is still there for some milliseconds.
  const again = setInterval(() => cli.signal(signal), 1);
  try {
    expect(await code).toBe(130);
  } finally {
    clearInterval(again);
  }
  expect(cli.output).toMatch(/the forward is closed\n$/);
});

test('exits with a message when its key is revoked', async () => {
  expect(await cli.interrupt()).toBe(130);
  const made = await world.call<{ data: { id: string; api_key: string } }>('POST', '/api/api-keys', { name: 'short' });
  await start(new Program('client/main.ts', words(), { SIGNALBOX_SERVER: world.url, SIGNALBOX_KEY: made.data.api_key }));
  await world.call('DELETE', `/api/api-keys/${made.data.id}`);
  expect(await cli.ended()).toBe(5);
  expect(cli.output).toMatch(/could not be closed and stays open until/);
  await world.revoke(await newest());
});

test('opens no forward when the local port is in use', async () => {
  const before = await newest();
  const taken = [...words().slice(0, -1), `127.0.0.1:${target.port}`];
  const second = new Program('client/main.ts', taken, { SIGNALBOX_SERVER: world.url, SIGNALBOX_KEY: world.apiKey });
  second.start();
  expect(await second.ended()).toBe(1);
  expect(second.output).toBe(`signalbox: --listen 127.0.0.1:${target.port}: another program uses this port (EADDRINUSE)\n`);
  expect((await newest()).id).toBe(before.id);
});

test.each([
  ['192.0.2.7:0', 'this machine does not have this address (EADDRNOTAVAIL)'],
  // Longer than a part of a name can be: known to be wrong without asking anybody.
  [`${'x'.repeat(64)}:0`, /the name has no address \(ENOTFOUND\)|DNS does not answer \(EAI_AGAIN\)/],
] as const)('explains why it cannot listen: %s', async (place, why) => {
  const before = await newest();
  const second = new Program('client/main.ts', [...words().slice(0, -1), place], {
    SIGNALBOX_SERVER: world.url,
    SIGNALBOX_KEY: world.apiKey,
  });
  second.start();
  expect(await second.ended()).toBe(1);
  expect(second.output).toContain(`signalbox: --listen ${place}: `);
  expect(second.output).toMatch(why);
  expect((await newest()).id).toBe(before.id);
});

test('closes the forward when its terminal disappears', async () => {
  const before = await newest();
  const ended = endOf(await transfer());
  // Everything that it says from here on is an error of its output.
  cli.hangUp();
  await ended;
  await waitUntil('it has ended', () => !cli.isRunning);
  expect(await newest()).toMatchObject({ id: before.id, revoked_early: true });
});

test('leaves only a closed-off forward until its expiry when killed', async () => {
  const ended = endOf(await transfer());
  await cli.kill();
  await ended;
  await nobodyIsConnected();
  await waitUntil('none is open', async () => (await newest()).open_connections === 0);
  const left = await newest();
  expect(left).toMatchObject({ closed_at: null, allow_only_cidr: '192.0.2.1/32' });
  await world.revoke(left);
});

test.each([
  ['is stopped', () => world.server.stop(), /a connection failed: the server is being stopped\n/],
  ['is killed', () => world.server.kill(), /a connection failed: the connection to the server broke \(1006\)\n/],
] as const)('reports when the control plane %s, and continues when it is back', async (_how, happen, message) => {
  const before = await newest();
  const ended = endOf(await transfer());
  await happen();
  await ended;
  await nobodyIsConnected();
  await waitUntil('it says so', () => message.test(cli.output));
  // Meanwhile a connection fails at once, and with a reason.
  await expect(ask(localPort, 'anybody?')).rejects.toThrow();
  await waitUntil('it says why', () => /a connection failed: .*ECONNREFUSED/.test(cli.output));
  expect(cli.isRunning).toBe(true);

  await world.startServer();
  const answer = (): Promise<string | undefined> => ask(localPort, 'still here').catch(() => undefined);
  await waitUntil('it carries connections again', async () => (await answer()) === 'still here');
  expect((await newest()).id).toBe(before.id);
  expect(await cli.interrupt()).toBe(130);
  expect(await newest()).toMatchObject({ id: before.id, revoked_early: true });
});
