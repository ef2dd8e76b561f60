import http from 'node:http';
import net from 'node:net';
import { once } from 'node:events';
import { setTimeout as pause } from 'node:timers/promises';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { ChannelLimits } from '../../server/platform/tunnel/channel-limits.ts';
import { TunnelEndpoint } from '../../server/platform/tunnel/endpoint.ts';
import { AttackedServer, inventoryOf } from '../harness/attacked-server.ts';
import { startYardstick, watchHealth } from '../harness/health-watch.ts';
import type { Yardstick } from '../harness/health-watch.ts';
import { ManualClock } from '../harness/manual-clock.ts';
import { silentLog } from '../harness/silent-log.ts';
import { waitUntil } from '../harness/wait-until.ts';

/** Floods of the endpoints beside the tunnel and the API: channels of forwards, and enrolment. */

function upgradeFor(bearer: string, more = ''): string {
  return `GET /agent/v1/channel HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nSec-WebSocket-Protocol: signalbox.v1\r\nAuthorization: Bearer ${bearer}\r\n${more}\r\n`;
}

/** Sends text as it is. @returns the status of the answer, 0 when the connection closed without one; the socket stays open */
async function send(port: number, text: string): Promise<{ status: number; socket: net.Socket; head: string }> {
  const socket = net.connect(port, '127.0.0.1');
  socket.on('error', () => undefined);
  return new Promise((resolve) => {
    let head = '';
    const done = (): void => resolve({ status: Number(/^HTTP\/1\.1 (\d{3})/.exec(head)?.[1] ?? 0), socket, head });
    socket.on('data', (bytes) => {
      head += bytes.toString('latin1');
      if (head.includes('\r\n\r\n')) done();
    });
    socket.on('close', done);
    socket.on('connect', () => socket.write(text));
  });
}

describe('channels with valid tokens', () => {
  let clock: ManualClock;
  let channels: ChannelLimits;
  let endpoint: TunnelEndpoint<{ teamId: string; agentId: string }>;
  let server: http.Server;
  let port: number;
  beforeEach(async () => {
    clock = new ManualClock();
    channels = new ChannelLimits({
      open: { total: 12, perParty: 8, perMember: 4 },
      dials: { perSecond: 1, burst: 10 },
      monotonic: () => clock.monotonic(),
    });
    endpoint = new TunnelEndpoint({
      channels,
      registry: { pauseOf: () => 0, close: async () => undefined } as never,
      authenticateAgent: async () => undefined,
      authorizeChannel: async (token) => {
        const [teamId = '', agentId = ''] = token.split(':');
        return teamId === 'wrong' ? undefined : { teamId, agentId };
      },
      onChannel: () => undefined,
      monotonic: () => clock.monotonic(),
      log: silentLog,
    });
    server = http.createServer();
    endpoint.attach(server);
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    ({ port } = server.address() as net.AddressInfo);
  });
  afterEach(async () => {
    await endpoint.close();
    server.close();
  });
  const dial = (bearer: string) => send(port, upgradeFor(bearer));

  test('are bounded per agent and team, leave room for another team, and count until they close', async () => {
    const held: net.Socket[] = [];
    for (let n = 0; n < 6; n += 1) {
      const { status, socket } = await dial('hostile:one');
      expect(status).toBe(n < 4 ? 101 : 503);
      if (status === 101) held.push(socket);
    }
    expect((await dial('hostile:two')).status).toBe(101);
    expect((await dial('neighbour:one')).status).toBe(101);
    held.pop()!.destroy();
    await waitUntil('the channel is given back', () => channels.open.taken === 5);
    expect((await dial('hostile:one')).status).toBe(101);
  });

  test('are refused with a retry time when opened and closed repeatedly; other agents are served', async () => {
    for (let n = 0; n < 10; n += 1) {
      const { status, socket } = await dial('hostile:one');
      expect(status).toBe(101);
      socket.destroy();
      await waitUntil('the channel is given back', () => channels.open.taken === 0);
    }
    const refused = await dial('hostile:one');
    expect(refused.status).toBe(429);
    expect(refused.head).toMatch(/Retry-After: 1\r\n/);
    expect((await dial('hostile:two')).status).toBe(101);
    clock.advance(1001);
    expect((await dial('hostile:one')).status).toBe(101);
  });

  test('with wrong tokens block their address for a time and use no slot', async () => {
    const statuses: number[] = [];
    for (let n = 0; n < 70; n += 1) statuses.push((await dial('wrong:one')).status);
    expect(statuses.at(0)).toBe(401);
    expect(statuses.at(-1)).toBe(429);
    expect(channels.open.taken).toBe(0);
  });
});

/** As in event-loop.test.ts. */
const BAR_MS = 200;
const ATTACK_MS = 3000;
/** What one attack may have the server print. */
const MAX_LOG_BYTES = 20_000;
/** Refused HTTP requests may print 300 lines of each of two messages in a minute (server/compose/api.ts), of 280 bytes each. */
const MAX_HTTP_LOG_BYTES = 2 * 300 * 280;

describe(`/healthz answers within ${BAR_MS} ms under`, () => {
  let server: AttackedServer;
  let yardstick: Yardstick;
  let port: number;
  let token = '';
  beforeAll(async () => {
    yardstick = await startYardstick();
    server = await AttackedServer.start({ SIGNALBOX_FORWARD_PORTS: '21000-29999' });
    port = Number(new URL(server.url).port);
    const ws = await server.tunnel(await server.enrol());
    ws.on('message', (data) => {
      const message = JSON.parse((data as Buffer).toString()) as { type: string; id: number; params?: { channel_token?: string } };
      if (message.type !== 'request' || message.params?.channel_token === undefined) return;
      token = message.params.channel_token;
      ws.send(
        JSON.stringify({
          type: 'reply',
          id: message.id,
          outcome: { ok: true, result: { method: 'forward.open', way: 'direct', way_reason: 'x', target_reachable: null } },
        }),
      );
    });
    ws.send(JSON.stringify(inventoryOf('branch')));
    const router = await waitUntil('the router is known', async () => (await server.routers())[0]);
    const body = { dst_address: '192.168.88.10', dst_port: 22, allow_from: '203.0.113.7', expire_after_minutes: 10 };
    const made = await server.call('POST', `/api/routers/${router.id}/transient-forwarding`, body);
    expect(made.status, await made.text()).toBe(200);
    await waitUntil('the agent has the token', () => token !== '');
  });
  afterAll(async () => {
    await server?.close();
    await yardstick.close();
  });

  /** From so many connections at a time, for the time of an attack. */
  const flood = async (width: number, attack: () => Promise<unknown>): Promise<void> => {
    const until = Date.now() + ATTACK_MS;
    const one = async (): Promise<void> => {
      while (Date.now() < until) await attack();
    };
    await Promise.all(Array.from({ length: width }, one));
  };

  const attacks: [name: string, run: () => Promise<void>, mostLogged?: number][] = [
    [
      'channels with a valid token that are opened and closed without end',
      () => flood(30, async () => (await send(port, upgradeFor(token))).socket.destroy()),
    ],
    [
      'two thousand channels that are held',
      async () => {
        const held: net.Socket[] = [];
        await flood(20, async () => {
          if (held.length < 2000) held.push((await send(port, upgradeFor(token))).socket);
          else await pause(20);
        });
        for (const socket of held) socket.destroy();
      },
    ],
    [
      'strangers with wrong tokens',
      () => flood(30, async () => (await send(port, upgradeFor('01900000-0000-7000-8000-000000000001:x'))).socket.destroy()),
    ],
    [
      'upgrades whose headers do not end, or are too long',
      async () => {
        const unfinished = Array.from({ length: 500 }, () => net.connect(port, '127.0.0.1').on('error', () => undefined));
        for (const socket of unfinished) socket.write(upgradeFor(token).slice(0, -2));
        await flood(10, async () => {
          const { status, socket } = await send(port, upgradeFor(token, `X: ${'x'.repeat(100_000)}\r\n`));
          expect([0, 431]).toContain(status);
          socket.destroy();
        });
        for (const socket of unfinished) socket.destroy();
      },
    ],
    [
      'enrolments with wrong tokens and bodies that are too long or do not end',
      async () => {
        const head = (length: number) =>
          `POST /agent/v1/enrol HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: ${length}\r\n\r\n`;
        const unfinished = Array.from({ length: 300 }, () => net.connect(port, '127.0.0.1').on('error', () => undefined));
        for (const socket of unfinished) socket.write(`${head(1000)}{"token":"`);
        await flood(20, async () => {
          const body = JSON.stringify({ token: 'x'.repeat(43), name: 'stranger' });
          for (const text of [head(body.length) + body, `${head(50_000_000)}${'x'.repeat(100_000)}`]) {
            const { status, socket } = await send(port, text);
            expect(status).not.toBe(200);
            socket.destroy();
          }
        });
        for (const socket of unfinished) socket.destroy();
      },
      MAX_HTTP_LOG_BYTES,
    ],
  ];

  test.each(attacks)('%s', { retry: 2 }, async (_name, run, mostLogged = MAX_LOG_BYTES) => {
    const printed = server.program.printed;
    const reading = await watchHealth({ url: server.url, barMs: BAR_MS, yardstick }, async () => {
      await run();
      await pause(300);
    });
    expect(reading.worst, reading.figures).toBeLessThanOrEqual(reading.mayTake);
    expect(server.program.printed - printed, server.program.output.slice(-2000)).toBeLessThanOrEqual(mostLogged);
  });
});
