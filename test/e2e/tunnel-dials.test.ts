import { EventEmitter, once } from 'node:events';
import http from 'node:http';
import https from 'node:https';
import net from 'node:net';
import type { AddressInfo } from 'node:net';
import type { Duplex } from 'node:stream';
import tls from 'node:tls';
import { afterEach, beforeAll, expect, test, vi } from 'vitest';
import { systemClock } from '../../server/platform/core/clock.ts';
import { ChannelLimits } from '../../server/platform/tunnel/channel-limits.ts';
import { TunnelEndpoint } from '../../server/platform/tunnel/endpoint.ts';
import { TunnelRegistry } from '../../server/platform/tunnel/registry.ts';
import { RecordedEvents } from '../harness/recorded-events.ts';
import { silentLog } from '../harness/silent-log.ts';
import { MemorySessions } from '../harness/tunnel-world.ts';
import { waitUntil } from '../harness/wait-until.ts';
import { createSelfSigned } from '../simulator/certificate.ts';

/** Dials that wait: for the check of their credential, and for their opening. What has changed meanwhile counts when the wait is over. */

let certificate: { cert: string; key: string };
const cleanups: (() => void)[] = [];

beforeAll(async () => {
  certificate = await createSelfSigned('control plane');
});

afterEach(() => {
  for (const cleanup of cleanups.splice(0).reverse()) cleanup();
});

interface Dial {
  /** The agent's end. */
  client: net.Socket;
  /** The control plane's end. */
  socket: Duplex;
  /** What the agent has heard. */
  answer: () => string;
}

/** The endpoint behind a server that holds each upgrade until the test passes it on. */
async function startHeld(isSecure = false) {
  const sessions = new MemorySessions();
  const callbacks = sessions.callbacks(new RecordedEvents());
  const checked: string[] = [];
  const channels: string[] = [];
  const state = { drains: false, gate: Promise.resolve() };
  const registry = new TunnelRegistry({ callbacks, clock: systemClock, log: silentLog });
  const endpoint = new TunnelEndpoint({
    registry,
    authenticateAgent: (bearer) => {
      checked.push(bearer);
      return callbacks.authenticateAgent(bearer);
    },
    authorizeChannel: async (token) => {
      checked.push(token);
      await state.gate;
      return { teamId: 'team', agentId: 'agent', token };
    },
    onChannel: ({ token }) => channels.push(token),
    channels: new ChannelLimits({ monotonic: () => systemClock.monotonic() }),
    refusesTunnels: () => state.drains,
    log: silentLog,
  });
  const front = new EventEmitter() as http.Server;
  endpoint.attach(front);
  const server = isSecure ? https.createServer(certificate) : http.createServer();
  const held = new Map<string | undefined, [http.IncomingMessage, Duplex, Buffer]>();
  server.on('upgrade', (...upgrade) => held.set(upgrade[0].headers.authorization, upgrade));
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  cleanups.push(() => server.close());

  /** @param more bytes behind the request */
  async function dial(bearer: string, { path = '/agent/v1/tunnel', more = '' } = {}): Promise<Dial> {
    const authorization = `Bearer ${bearer}`;
    const client = isSecure
      ? tls.connect({ port, host: '127.0.0.1', ca: certificate.cert, checkServerIdentity: () => undefined })
      : net.connect(port, '127.0.0.1');
    cleanups.push(() => client.destroy());
    let answer = '';
    client.on('data', (bytes) => (answer += bytes.toString('latin1')));
    client.on('error', () => undefined);
    const lines = [
      `GET ${path} HTTP/1.1`,
      'Host: x',
      'Connection: Upgrade',
      'Upgrade: websocket',
      'Sec-WebSocket-Version: 13',
      'Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==',
      'Sec-WebSocket-Protocol: signalbox.v1',
      `Authorization: ${authorization}`,
    ];
    client.write(`${lines.join('\r\n')}\r\n\r\n${more}`);
    const [, socket] = await waitUntil('the dial is there', () => held.get(authorization));
    cleanups.push(() => socket.destroy());
    return { client, socket, answer: () => answer };
  }

  const passOn = (): void => {
    for (const upgrade of held.values()) front.emit('upgrade', ...upgrade);
    held.clear();
  };
  const good = (): string => {
    const { agentId, secret } = sessions.add();
    return `${agentId}:${secret}`;
  };
  return { server, registry, endpoint, state, checked, channels, dial, passOn, good };
}

async function hangUp({ client, socket }: Dial): Promise<void> {
  client.end();
  await waitUntil('the control plane has the FIN', () => !socket.readable);
}

const head = ({ answer }: Dial): Promise<string> => waitUntil('an answer', () => answer().includes('\r\n\r\n') && answer());

/** A frame with two bytes of text. */
const FRAME = String.fromCharCode(0x81, 0x82, 0, 0, 0, 0, 0x6f, 0x6b);

test.each([
  ['HTTP', false],
  ['TLS', true],
])(
  'over %s, an agent that has hung up while its dial waited costs no check, and those that have not are served',
  async (_name, isSecure) => {
    const { server, registry, checked, dial, passOn, good } = await startHeld(isSecure);
    for (const more of ['', FRAME]) await hangUp(await dial(good(), { more }));
    const plain = good();
    const early = good();
    const later = good();
    const dials = [await dial(plain), await dial(early, { more: FRAME }), await dial(later)];
    dials[2]!.client.write(FRAME);
    await waitUntil('bytes wait', () => dials[2]!.socket.readableLength > 0);
    passOn();
    for (const answered of dials) expect(await head(answered)).toContain('101 Switching Protocols');
    expect(checked.sort()).toEqual([plain, early, later].sort());
    for (const { client } of dials) client.destroy();
    await waitUntil('nothing is left', () => registry.size === 0);
    await waitUntil('no connection stays', async () => (await connectionsOf(server)) === 0);
  },
);

const connectionsOf = (server: net.Server): Promise<number> =>
  new Promise((resolve) => server.getConnections((_error, count) => resolve(count)));

test('a channel whose agent has hung up during the check is not handed over', async () => {
  const { server, endpoint, state, checked, channels, dial, passOn } = await startHeld();
  const gate = Promise.withResolvers<void>();
  state.gate = gate.promise;
  const gone = await dial('forward-1:secret', { path: '/agent/v1/channel' });
  passOn();
  await waitUntil('the check runs', () => checked.length === 1);
  await hangUp(gone);
  gate.resolve();
  await waitUntil('no connection stays', async () => (await connectionsOf(server)) === 0);
  expect(channels).toEqual([]);
  expect(endpoint.checking.taken).toBe(0);
});

test('of many wrong dials that wait together, those behind the sixtieth failure are not checked', async () => {
  const { checked, dial, passOn } = await startHeld();
  const dials: Dial[] = [];
  for (let n = 0; n < 300; n += 1) dials.push(await dial(`stranger-${n}:b`));
  passOn();
  const answers = await Promise.all(dials.map(head));
  const refused = answers.filter((answer) => answer.includes('429'));
  expect(answers.filter((answer) => answer.includes('401'))).toHaveLength(checked.length);
  expect(refused).toHaveLength(300 - checked.length);
  expect(refused.every((answer) => answer.includes('Retry-After: 60\r\n'))).toBe(true);
  // Those that begin in one turn of the event loop (64 in a long one) do not know of each other.
  expect(checked.length).toBeLessThan(60 + 64);
});

const CHANGES = [
  { change: 'a drain has begun', status: '503', retryAfter: 'Retry-After: 1\r\n' },
  { change: 'its agent has to pause', status: '429', retryAfter: 'Retry-After: 7\r\n' },
];

function make(change: string, { state, registry }: Awaited<ReturnType<typeof startHeld>>): void {
  if (change === 'a drain has begun') state.drains = true;
  else vi.spyOn(registry, 'pauseOf').mockReturnValue(7000);
}

test.each(CHANGES)('a dial that waited for its check is refused when $change', async ({ change, status, retryAfter }) => {
  const world = await startHeld();
  const waiting = await world.dial(world.good());
  world.passOn();
  make(change, world);
  const answer = await head(waiting);
  expect(answer).toContain(`HTTP/1.1 ${status} `);
  expect(answer).toContain(retryAfter);
  expect(world.checked).toEqual([]);
});

test.each(CHANGES)('a dial that waited for its opening is refused when $change', async ({ change, status, retryAfter }) => {
  const world = await startHeld();
  const { openings } = world.endpoint;
  const turn = Promise.withResolvers<void>();
  const enter = openings.enter.bind(openings);
  const entering = vi.spyOn(openings, 'enter').mockImplementation(async (...dial) => {
    await turn.promise;
    return enter(...dial);
  });
  const waiting = await world.dial(world.good());
  world.passOn();
  await waitUntil('it waits for its opening', () => entering.mock.calls.length === 1);
  make(change, world);
  turn.resolve();
  const answer = await head(waiting);
  expect(answer).toContain(`HTTP/1.1 ${status} `);
  expect(answer).toContain(retryAfter);
  expect([world.registry.size, openings.shares.taken]).toEqual([0, 0]);
});
