import { execFile } from 'node:child_process';
import { once } from 'node:events';
import http2 from 'node:http2';
import net from 'node:net';
import tls from 'node:tls';
import { promisify } from 'node:util';
import { afterEach, beforeAll, describe, expect, it, vi } from 'vitest';
import type { Log } from '../../server/platform/core/log.ts';
import type { ForwardView } from '../../server/work/forwards/types.ts';
import { helloWith, inRecordsOf, realClientHello, serverName } from '../harness/client-hello.ts';
import { ForwardWorld } from '../harness/forward-world.ts';
import type { WorldOptions } from '../harness/forward-world.ts';
import { ManualClock } from '../harness/manual-clock.ts';
import { proxyHeader } from '../harness/proxy-header.ts';
import { readAll } from '../harness/read-all.ts';
import { silentLog } from '../harness/silent-log.ts';
import { waitUntil } from '../harness/wait-until.ts';
import { createSelfSigned } from '../simulator/certificate.ts';

/** The TLS name entry: one port for all forwards, for TLS clients that request `<id>.<domain>`. */

let certificate: { cert: string; key: string };
let world: ForwardWorld;
beforeAll(async () => {
  certificate = await createSelfSigned('target');
});
afterEach(() => world.close());

const NAMES = { domain: 'forward.example.net', listen: { host: '127.0.0.1', port: 0 }, publicPort: undefined };

async function open(options: WorldOptions = {}): Promise<ForwardWorld> {
  world = await ForwardWorld.open({ ...options, settings: { names: NAMES, ...options.settings } });
  return world;
}

/** A TLS service behind the router that echoes everything twice. */
async function tlsTarget(): Promise<number> {
  const context = tls.createSecureContext(certificate);
  return world.target((socket) => {
    const secure = new tls.TLSSocket(socket, { isServer: true, secureContext: context });
    secure.on('error', () => undefined).on('data', (data) => secure.write(Buffer.concat([data, data])));
    secure.on('end', () => secure.destroy());
  });
}

function nameEntryPort(view: ForwardView): number {
  return view.entryName!.port;
}

function plain(port: number, localAddress = '127.0.0.1'): net.Socket {
  const socket = net.connect({ port, host: '127.0.0.1', localAddress, allowHalfOpen: true });
  socket.on('error', () => undefined);
  return socket;
}

async function tlsThrough(port: number, servername: string): Promise<tls.TLSSocket> {
  const socket = tls.connect({ port, host: '127.0.0.1', servername, rejectUnauthorized: false });
  socket.on('error', () => undefined);
  await once(socket, 'secureConnect');
  return socket;
}

const closeOf = (socket: net.Socket): Promise<void> => new Promise((resolve) => socket.once('close', () => resolve()));
/** Resolves when the other side has ended the connection, whether properly or by breaking it off. */
const endOf = (socket: net.Socket): Promise<void> =>
  new Promise((resolve) =>
    socket
      .resume()
      .once('end', () => resolve())
      .once('close', () => resolve()),
  );
/** The alert `unrecognized_name`, and nothing else. */
const UNRECOGNISED = Buffer.from([21, 3, 3, 0, 2, 2, 112]);

describe('a TLS client', () => {
  it('that requests a forward by SNI reaches the target, and is logged and counted like any other', async () => {
    await open();
    const view = await world.create({ dstPort: await tlsTarget() });
    expect(view.entryName).toEqual({ name: `${view.record.id}.forward.example.net`, port: nameEntryPort(view) });
    const client = await tlsThrough(nameEntryPort(view), view.entryName!.name);
    expect(client.getPeerCertificate().subject.CN).toBe('target');
    client.write('hello');
    expect(String((await once(client, 'data'))[0])).toBe('hellohello');
    expect((await world.get(view.record.id)).openConnections).toBe(1);
    client.destroy();
    const [logged] = await waitUntil('it is logged', async () => {
      const { team_id: team, router_id: router, id } = view.record;
      const connections = await world.forwards.connections(team, router, id, { limit: 10, before: undefined });
      return connections.length > 0 && connections;
    });
    expect(logged).toMatchObject({ source: expect.stringMatching(/^127\.0\.0\.1:\d+$/) });
    expect(logged!.bytes_in).toBeGreaterThan(200);
  });

  it('can be curl, over HTTP/1.1 or HTTP/2, with several requests per connection', async (context) => {
    const curl = (args: string[]): Promise<{ stdout: string }> => promisify(execFile)('curl', args);
    await curl(['--version']).catch(() => context.skip('curl is not installed'));
    await open();
    const web = http2.createSecureServer({ ...certificate, allowHTTP1: true }, (request, response) => {
      response.end(`${request.httpVersion} ${request.headers.host ?? request.headers[':authority']}`);
    });
    web.listen(0, '127.0.0.1');
    await once(web, 'listening');
    const view = await world.create({ dstPort: (web.address() as net.AddressInfo).port });
    const origin = `${view.entryName!.name}:${nameEntryPort(view)}`;
    for (const [flag, version] of [
      ['--http1.1', '1.1'],
      ['--http2', '2.0'],
    ] as const) {
      const args = ['--silent', '--show-error', '--insecure', '--max-time', '10', flag, '--resolve', `${origin}:127.0.0.1`];
      const { stdout } = await curl([...args, `https://${origin}/a`, `https://${origin}/b`]);
      expect(stdout).toBe(`${version} ${origin}`.repeat(2));
    }
    web.close();
    expect((await world.get(view.record.id)).connectionCount).toBe(2);
  });

  it('may fragment its first message in any way', async () => {
    await open();
    const received: Buffer[] = [];
    const view = await world.create({ dstPort: await world.target((socket) => socket.on('data', (data) => received.push(data))) });
    const hello = inRecordsOf(await realClientHello({ servername: view.entryName!.name }), 40);
    const client = plain(nameEntryPort(view));
    client.setNoDelay(true);
    for (let at = 0; at < hello.length; at += 50) {
      client.write(hello.subarray(at, at + 50));
      await new Promise((resolve) => setImmediate(resolve));
    }
    await waitUntil('all of it has arrived', () => Buffer.concat(received).length === hello.length);
    expect(Buffer.concat(received).equals(hello)).toBe(true);
    client.destroy();
  });

  it.each<[string, (name: string) => string | undefined]>([
    ['another forward', (name) => name.replace(/^./, (first) => (first === '0' ? '1' : '0'))],
    ['another domain', (name) => name.replace('forward.', 'other.')],
    ['the domain itself', () => 'forward.example.net'],
    ['a name below the forward', (name) => `www.${name}`],
  ])('that asks for %s hears that nobody has this name', async (_what, change) => {
    await open();
    const view = await world.create({ dstPort: await tlsTarget() });
    const client = plain(nameEntryPort(view));
    client.write(helloWith([serverName(change(view.entryName!.name)!)]));
    expect((await readAll(client)).equals(UNRECOGNISED)).toBe(true);
    expect((await world.get(view.record.id)).record.refused_attempts).toBe(0);
  });

  it('from a forbidden source gets the same alert and is counted on the record', async () => {
    await open();
    const view = await world.create({ dstPort: await tlsTarget() });
    const client = plain(nameEntryPort(view), '127.0.0.2');
    client.write(helloWith([serverName(view.entryName!.name)]));
    expect((await readAll(client)).equals(UNRECOGNISED)).toBe(true);
    expect((await world.get(view.record.id)).record.refused_attempts).toBe(1);
  });

  it('without SNI gets the same alert', async () => {
    await open();
    const view = await world.create({ dstPort: await tlsTarget() });
    const client = plain(nameEntryPort(view));
    client.write(helloWith([]));
    expect((await readAll(client)).equals(UNRECOGNISED)).toBe(true);
  });

  it('of an ended or a full forward is refused', async () => {
    await open();
    const view = await world.create({ dstPort: await tlsTarget(), maxConnections: 1 });
    const first = await tlsThrough(nameEntryPort(view), view.entryName!.name);
    const second = plain(nameEntryPort(view));
    second.write(helloWith([serverName(view.entryName!.name)]));
    await closeOf(second);
    expect((await world.get(view.record.id)).record.refused_attempts).toBe(1);
    const cut = closeOf(first);
    await world.forwards.revoke(view.record.team_id, view.record.router_id, view.record.id);
    await cut;
    const late = plain(nameEntryPort(view));
    late.write(helloWith([serverName(view.entryName!.name)]));
    expect((await readAll(late)).equals(UNRECOGNISED)).toBe(true);
  });
});

describe('a client that does not speak TLS', () => {
  it('shares one log line with all other refused clients', async () => {
    const clock = new ManualClock(Date.now());
    const info = vi.fn<Log['info']>();
    await open({ clock, log: { ...silentLog, info } });
    const view = await world.create({ dstPort: await tlsTarget() });
    for (let count = 0; count < 5; count += 1) {
      const socket = plain(nameEntryPort(view));
      socket.write('SSH-2.0-x\r\n');
      await closeOf(socket);
    }
    clock.advance(5000);
    expect(info.mock.calls.filter(([, message]) => message.includes('TLS name entry'))).toEqual([
      [{ source: '127.0.0.1', reason: 'not TLS', count: 5 }, 'connections to the TLS name entry matched no forward'],
    ]);
  });

  it('is disconnected after another protocol, silence, or half a message', async () => {
    const clock = new ManualClock(Date.now());
    await open({ clock });
    const view = await world.create({ dstPort: await tlsTarget() });
    const http = plain(nameEntryPort(view));
    http.write('GET / HTTP/1.1\r\n\r\n');
    await closeOf(http);
    const [silent, half] = [plain(nameEntryPort(view)), plain(nameEntryPort(view))];
    half.write(helloWith([serverName(view.entryName!.name)]).subarray(0, 30));
    await Promise.all([once(silent, 'connect'), once(half, 'connect')]);
    const closed = Promise.all([closeOf(silent), closeOf(half)]);
    await waitUntil('their time is over', () => {
      clock.advance(5000);
      return silent.destroyed && half.destroyed;
    });
    await closed;
  });
});

it('the name survives a restart and is absent without a TLS name entry', async () => {
  await open();
  const view = await world.create({ dstPort: await tlsTarget() });
  await world.restartServer();
  const again = await world.get(view.record.id);
  expect(again.entryName!.name).toBe(view.entryName!.name);
  (await tlsThrough(nameEntryPort(again), again.entryName!.name)).destroy();
  await world.close();
  world = await ForwardWorld.open();
  expect((await world.create({ dstPort: 9 })).entryName).toBeUndefined();
});

/** 127.0.0.2 is a load balancer here, 127.0.0.1 is not. */
describe.each(['its own port', 'the TLS name entry'])('behind a load balancer, at %s', (entry) => {
  const isProxy = (address: string): boolean => address === '127.0.0.2';
  const byName = entry !== 'its own port';

  async function echo(options: WorldOptions = {}, allowFrom = '203.0.113.7'): Promise<{ view: ForwardView; port: number; hello: Buffer }> {
    await open({ ...options, settings: { isProxy } });
    const view = await world.create({ dstPort: await world.target((socket) => socket.pipe(socket)), allowFrom });
    // The target is no TLS service: it says back whatever comes.
    return {
      view,
      port: byName ? nameEntryPort(view) : view.record.port,
      hello: byName ? helloWith([serverName(view.entryName!.name)]) : Buffer.from('hello'),
    };
  }

  async function saidBack(socket: net.Socket, bytes: Buffer): Promise<void> {
    const answer = readAll(socket);
    socket.end(bytes);
    expect((await answer).equals(bytes)).toBe(true);
  }

  async function refusals(view: ForwardView): Promise<number> {
    return (await world.get(view.record.id)).record.refused_attempts;
  }

  it('the client address of the header counts, and the target gets only the client’s bytes', async () => {
    const { view, port, hello } = await echo();
    const socket = plain(port, '127.0.0.2');
    const answer = readAll(socket);
    socket.end(Buffer.concat([proxyHeader({ source: '203.0.113.7', port: 4711, checksum: 'right' }), hello]));
    expect((await answer).equals(hello)).toBe(true);
    const { team_id: team, router_id: router, id } = view.record;
    const [logged] = await waitUntil('it is logged', async () => {
      const connections = await world.forwards.connections(team, router, id, { limit: 1, before: undefined });
      return connections.length > 0 && connections;
    });
    expect(logged!.source).toBe('203.0.113.7:4711');
    expect(await refusals(view)).toBe(0);
  });

  it('the header may arrive byte by byte, with IPv6', async () => {
    const { port, hello } = await echo({}, '2001:db8::/48');
    const socket = plain(port, '127.0.0.2');
    socket.setNoDelay(true);
    const answer = readAll(socket);
    for (const byte of proxyHeader({ source: '2001:db8::7' })) {
      socket.write(Buffer.from([byte]));
      await new Promise((resolve) => setImmediate(resolve));
    }
    socket.end(hello);
    expect((await answer).equals(hello)).toBe(true);
  });

  it('a forbidden client address in the header is refused and counted', async () => {
    const { view, port, hello } = await echo();
    const socket = plain(port, '127.0.0.2');
    socket.write(Buffer.concat([proxyHeader({ source: '198.51.100.1' }), hello]));
    await endOf(socket);
    expect(await refusals(view)).toBe(1);
  });

  it('a connection without a header is not a client', async () => {
    const { view, port, hello } = await echo({}, '127.0.0.2');
    const socket = plain(port, '127.0.0.2');
    socket.write(hello);
    await endOf(socket);
    // The TLS name entry does not know the forward of the attempt yet.
    expect(await refusals(view)).toBe(byName ? 0 : 1);
  });

  it('the health check of the load balancer is not counted as an attempt', async () => {
    const { view, port } = await echo();
    const socket = plain(port, '127.0.0.2');
    socket.write(proxyHeader({ command: 0x20 }));
    await endOf(socket);
    expect(await refusals(view)).toBe(0);
  });

  it('a header from another source is ignored as proxy header', async () => {
    const { view, port, hello } = await echo({}, '127.0.0.1');
    if (byName) {
      const socket = plain(port);
      socket.write(Buffer.concat([proxyHeader(), hello]));
      await endOf(socket);
    } else {
      await saidBack(plain(port), Buffer.concat([proxyHeader(), hello]));
    }
    await saidBack(plain(port), hello);
    expect(await refusals(view)).toBe(0);
  });

  it('a silent connection is closed', async () => {
    const clock = new ManualClock(Date.now());
    const { view, port } = await echo({ clock });
    const socket = plain(port, '127.0.0.2');
    await once(socket, 'connect');
    await waitUntil('its time is over', () => {
      clock.advance(5000);
      return socket.destroyed;
    });
    expect(await refusals(view)).toBe(byName ? 0 : 1);
  });
});
