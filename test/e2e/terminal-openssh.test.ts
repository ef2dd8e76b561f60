import { chmod, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { startHostileSshServer } from '../harness/hostile-ssh-server.ts';
import { hasOpensshServer, startOpensshServer } from '../harness/openssh-server.ts';
import type { OpensshServer } from '../harness/openssh-server.ts';
import { Terminals } from '../harness/terminal-world.ts';
import { waitUntil } from '../harness/wait-until.ts';
import { World } from '../harness/world.ts';

/** Terminals on SSH servers that are not the simulator: OpenSSH with a real shell, and servers that mean harm. */

let world: World;
let terminals: Terminals;
let routerId: string;

beforeAll(async () => {
  // The simulated router answers over its API; its terminals lead to the server of each test.
  world = await World.start({ terminal: 'full', routers: [{ sshPort: null }] });
  terminals = new Terminals(world);
  [routerId = ''] = await world.routerIds();
});
afterAll(() => world?.close());

let states = 0;

/** Restarts the agent so that its terminals lead to this SSH server. */
async function leadTo(terminal: object): Promise<void> {
  await world.agent?.close();
  states += 1;
  await world.startAgent({ router: { terminal }, state: `state-${states}` });
}

describe.skipIf(!hasOpensshServer)('against OpenSSH', () => {
  let sshd: OpensshServer;
  let key: string;
  beforeAll(async () => {
    // Not the login shell of whoever runs the tests.
    sshd = await startOpensshServer(['ForceCommand /bin/sh -i']);
    key = path.join(world.folder, 'term_key');
    await writeFile(key, sshd.privateKey);
    await chmod(key, 0o600);
    await leadTo({ port: sshd.port, full: { username: sshd.username, private_key_file: key } });
  });
  afterAll(() => sshd?.close());

  test('a real shell on a real terminal: echo, size, Ctrl-C, and its end', async () => {
    const opened = await terminals.open(routerId, 'full');
    const client = await terminals.attach(opened);
    await client.sees(/[#$] $/);
    client.resize(97, 31);
    client.type('PS1="at> "; stty size; echo "$TERM"\r');
    await client.sees(/\r\n31 97\r\n/);
    await client.sees(/\r\nxterm-256color\r\n/);
    client.resize(120, 40);
    client.type('stty size\r');
    await client.sees(/\r\n40 120\r\n/);
    client.type('sleep 600\r');
    await client.sees('sleep 600\r\n');
    client.type('\u0003');
    await client.sees(/\^C\s+at> $/);
    client.type('echo interrupted-$?\r');
    await client.sees(/\r\ninterrupted-130\r\n/);
    client.type('exit\r');
    expect(await client.ending()).toMatchObject({ reason: 'exited' });
    await terminals.endsWith(opened.id, 'exited');
  });

  test('megabytes come through whole, and are all recorded', async () => {
    const opened = await terminals.open(routerId, 'full');
    const client = await terminals.attach(opened);
    await client.sees(/[#$] $/);
    client.type('PS1=""; stty -echo; seq 1 200000; echo all-"done"\r');
    await client.sees(/\r\nall-done\r\n/);
    const numbers = (text: string): number => text.match(/^\d+\r$/gm)?.length ?? 0;
    expect(numbers(client.screen)).toBe(200_000);
    await terminals.end(opened.id);
    expect(numbers(await terminals.recordedText(opened.id))).toBe(200_000);
  });

  test('a login that is refused is said so', async () => {
    await leadTo({ port: sshd.port, read: { username: 'nobody-here', private_key_file: key } });
    const { status, body } = await waitUntil('the agent answers', async () => {
      const answer = await world.caller.call('POST', `/api/routers/${routerId}/terminals`, { level: 'read', reason: 'a try' });
      return (answer.body as { code: string }).code === 'agent_offline' ? undefined : answer;
    });
    expect(status).toBe(503);
    expect(body).toMatchObject({ code: 'router_unreachable', reason: 'login_refused', message: expect.stringContaining('level read') });
    const full = await world.caller.call('POST', `/api/routers/${routerId}/terminals`, { level: 'full', reason: 'a try' });
    expect(full).toMatchObject({ status: 422, body: { reason: 'terminal_no_user' } });
  });
});

describe('against servers that mean harm', () => {
  const attempt = (): ReturnType<World['caller']['call']> =>
    waitUntil('the agent answers', async () => {
      const answer = await world.caller.call('POST', `/api/routers/${routerId}/terminals`, { level: 'full', reason: 'a try' });
      return (answer.body as { code?: string }).code === 'agent_offline' ? undefined : answer;
    });

  test('one that opens no shell', async () => {
    const server = await startHostileSshServer((connection) => {
      connection.on('session', (accept) => {
        const session = accept();
        session.on('pty', (ok) => ok?.());
        session.on('shell', (_ok, reject) => reject?.());
      });
    });
    await leadTo({ port: server.port, full: { username: 'x', password: 'x' } });
    expect(await attempt()).toMatchObject({ status: 422, body: { code: 'rejected_by_router', reason: 'shell_refused' } });
    await server.close();
  });

  test('one that prints garbage without end is held back, and ends at once when asked', async () => {
    const server = await startHostileSshServer((connection) => {
      connection.on('session', (accept) => {
        const session = accept();
        session.on('pty', (ok) => ok?.());
        session.on('shell', (ok) => {
          const channel = ok();
          channel.on('error', () => undefined);
          const garbage = Buffer.alloc(32 * 1024, 0x9b);
          const pour = (): void => {
            while (!channel.destroyed && channel.write(garbage));
          };
          channel.on('drain', pour);
          pour();
        });
      });
    });
    await leadTo({ port: server.port, full: { username: 'x', password: 'x' } });
    const opened = await terminals.open(routerId, 'full');
    const client = await terminals.attach(opened);
    client.ws.pause();
    const before = process.memoryUsage().rss;
    const still = await waitUntil('it is held back', async () => {
      const one = (await terminals.read(opened.id)).output_bytes;
      await new Promise((resolve) => setTimeout(resolve, 2000));
      const two = await terminals.read(opened.id);
      return one === two.output_bytes || two.status === 'ended';
    });
    expect(still).toBe(true);
    // Server, agent and the pouring one are all in this process.
    expect(process.memoryUsage().rss - before).toBeLessThan(200 * 1024 * 1024);
    await terminals.end(opened.id);
    expect((await terminals.read(opened.id)).status).toBe('ended');
    await server.close();
  });
});
