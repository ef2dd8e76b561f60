import { once } from 'node:events';
import http from 'node:http';
import type { AddressInfo } from 'node:net';
import { duplexPair } from 'node:stream';
import type { Duplex } from 'node:stream';
import fc from 'fast-check';
import { afterEach, describe, expect, it } from 'vitest';
import { WebSocket, WebSocketServer } from 'ws';
import type { ChannelSocket } from '../../../protocol/channel-socket.ts';
import { SUBPROTOCOL } from '../../../protocol/version.ts';
import { FrameReader, applyMask, frameHeader } from '../../../protocol/websocket-frames.ts';
import { StreamingWebSocket } from '../../../protocol/websocket.ts';
import { upgradeRequest, upgradeResponse } from '../../../protocol/websocket-upgrade.ts';
import { readAll } from '../../harness/read-all.ts';
import { waitUntil } from '../../harness/wait-until.ts';

const limits = { binaryBytes: 70_000, textBytes: 1000 };

/** All events of a reader in order, with binary pieces joined between other events. */
function read(chunks: Buffer[], expectMask = false): string[] {
  const events: string[] = [];
  let binary = Buffer.alloc(0);
  const flush = (): void => {
    if (binary.length > 0) events.push(`binary ${binary.toString('hex')}`);
    binary = Buffer.alloc(0);
  };
  const say = (event: string): void => {
    flush();
    events.push(event);
  };
  const reader = new FrameReader(
    {
      onBinary: (piece) => {
        if (piece.length === 0) say('empty');
        else binary = Buffer.concat([binary, piece]);
      },
      onText: (data) => say(`text ${data.toString()}`),
      onPing: (data) => say(`ping ${data.toString()}`),
      onPong: (data) => say(`pong ${data.toString()}`),
      onClose: (code, reason) => say(`close ${code} ${reason.toString()}`),
      onViolation: (code) => say(`violation ${code}`),
    },
    limits,
    { expectMask },
  );
  for (const chunk of chunks) reader.push(Buffer.from(chunk));
  flush();
  return events;
}

const hex = (text: string): Buffer => Buffer.from(text.replaceAll(' ', ''), 'hex');

describe('frames', () => {
  it.each([
    // Section 5.7 of RFC 6455, and what channels add to it.
    ['81 05 48656c6c6f', false, ['text Hello']],
    ['81 85 37fa213d 7f9f4d5158', true, ['text Hello']],
    ['01 03 48656c 80 02 6c6f', false, ['text Hello']],
    ['89 05 48656c6c6f', false, ['ping Hello']],
    ['8a 00', false, ['pong ']],
    ['82 03 010203', false, ['binary 010203']],
    ['82 00', false, ['empty']],
    ['82 01 aa 82 00 82 01 bb', false, ['binary aa', 'empty', 'binary bb']],
    ['02 01 aa 89 00 80 01 bb', false, ['binary aa', 'ping ', 'binary bb']],
    ['01 03 48656c 89 01 21 80 02 6c6f', false, ['ping !', 'text Hello']],
    ['02 00 80 00', false, ['empty']],
    ['88 00', false, ['close 1005 ']],
    ['88 04 03e8 6f6b', false, ['close 1000 ok']],
    ['88 02 03e8 82 01 aa', false, ['close 1000 ']],
    // Broken rules.
    ['82 83 00000000 010203', false, ['violation 1002']],
    ['82 03 010203', true, ['violation 1002']],
    ['c2 00', false, ['violation 1002']],
    ['83 00', false, ['violation 1002']],
    ['80 00', false, ['violation 1002']],
    ['02 01 aa 82 01 bb', false, ['binary aa', 'violation 1002']],
    ['09 00', false, ['violation 1002']],
    ['89 7e 0080', false, ['violation 1002']],
    ['88 01 03', false, ['violation 1002']],
    ['88 02 0001', false, ['violation 1002']],
    ['88 02 03ed', false, ['violation 1002']],
    ['88 02 0bb7', false, ['violation 1002']],
    ['88 02 0bb8', false, ['close 3000 ']],
    ['82 7f 0000000000011171', false, ['violation 1009']],
    ['82 7f ffffffffffffffff', false, ['violation 1009']],
    ['81 7e 03e9', false, ['violation 1009']],
  ])('%s', (bytes, expectMask, events) => {
    expect(read([hex(bytes)], expectMask)).toEqual(events);
    const single = [...hex(bytes)].map((byte) => Buffer.from([byte]));
    expect(read(single, expectMask)).toEqual(events);
  });

  it('are decoded the same for any split of the stream', () => {
    const message = fc.oneof(
      fc.record({ opcode: fc.constant(2), data: fc.uint8Array({ maxLength: 300 }) }),
      fc.record({ opcode: fc.constantFrom(1, 9, 10), data: fc.uint8Array({ maxLength: 125 }) }),
    );
    fc.assert(
      fc.property(fc.array(message, { maxLength: 8 }), fc.array(fc.nat(400), { maxLength: 20 }), fc.boolean(), (messages, cuts, masked) => {
        const wire = Buffer.concat(
          messages.flatMap(({ opcode, data }) => {
            const header = frameHeader(opcode, data.length, masked);
            const body = Buffer.from(data);
            if (masked) {
              header.set([1, 2, 3, 4], header.length - 4);
              applyMask(body, header.subarray(-4), 0);
            }
            return [header, body];
          }),
        );
        const pieces: Buffer[] = [];
        let at = 0;
        for (const cut of cuts) {
          pieces.push(wire.subarray(at, at + cut));
          at += cut;
        }
        pieces.push(wire.subarray(at));
        expect(read(pieces, masked)).toEqual(read([wire], masked));
      }),
    );
  });
});

describe('a streaming WebSocket and one of ws interoperate', () => {
  const closers: (() => void)[] = [];
  afterEach(() => {
    for (const close of closers.splice(0)) close();
  });

  type End = ChannelSocket;

  function closing(end: End): Promise<string> {
    return new Promise((resolve) => {
      end.on('close', (code, reason) => resolve(`${code} ${reason.toString()}`));
    });
  }

  async function listen(take: (request: http.IncomingMessage, socket: Duplex, head: Buffer) => void): Promise<number> {
    const server = http.createServer();
    server.on('upgrade', take);
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    closers.push(() => {
      server.closeAllConnections();
      server.close();
    });
    return (server.address() as AddressInfo).port;
  }

  /** The streaming one serves, ws dials. */
  async function streamingServer(): Promise<[End, End]> {
    const accepted = Promise.withResolvers<End>();
    const port = await listen((request, socket, head) => {
      socket.write(upgradeResponse(request.headers)!);
      accepted.resolve(new StreamingWebSocket(socket, head, { role: 'server', plainMask: true }));
    });
    const client = new WebSocket(`ws://127.0.0.1:${port}/`, SUBPROTOCOL, { perMessageDeflate: false });
    await once(client, 'open');
    return [await accepted.promise, client];
  }

  /** ws serves, the streaming one dials. */
  async function streamingClient(plainMask: boolean): Promise<[End, End]> {
    const accepted = Promise.withResolvers<End>();
    const server = new WebSocketServer({ noServer: true, perMessageDeflate: false, handleProtocols: () => SUBPROTOCOL });
    const port = await listen((request, socket, head) => {
      server.handleUpgrade(request, socket, head, (ws) => accepted.resolve(ws));
    });
    const upgrade = upgradeRequest('token');
    const request = http.request({ port, host: '127.0.0.1', headers: upgrade.headers }).end();
    const [response, socket, head] = (await once(request, 'upgrade')) as [http.IncomingMessage, Duplex, Buffer];
    expect(upgrade.accepts(response.headers)).toBe(true);
    return [new StreamingWebSocket(socket, head, { role: 'client', plainMask }), await accepted.promise];
  }

  describe.each([
    ['as the server', streamingServer],
    ['as the client', () => streamingClient(false)],
    ['as the client with a plain mask', () => streamingClient(true)],
  ])('%s', (_name, open) => {
    it('in both directions, of any length', async () => {
      for (const [from, to] of await open().then(
        ([a, b]) =>
          [
            [a, b],
            [b, a],
          ] as const,
      )) {
        let bytes = Buffer.alloc(0);
        const other: string[] = [];
        to.on('message', (data, isBinary) => {
          if (!Buffer.isBuffer(data)) other.push('not a buffer');
          else if (!isBinary) other.push(data.toString());
          else if (data.length === 0) other.push('empty');
          else bytes = Buffer.concat([bytes, data]);
        });
        const sent = [0, 1, 125, 126, 127, 65_535, 65_536].map((length) => Buffer.alloc(length, length % 251));
        for (const message of sent) from.send(message);
        from.send('{"type":"reset"}');
        await waitUntil('the text has arrived', () => other.includes('{"type":"reset"}'));
        expect(bytes.equals(Buffer.concat(sent))).toBe(true);
        expect(other).toEqual(['empty', '{"type":"reset"}']);
      }
    });

    it('for pings', async () => {
      const [streaming, stock] = await open();
      const pongs: string[] = [];
      streaming.on('pong', () => pongs.push('streaming'));
      stock.on('pong', () => pongs.push('stock'));
      streaming.ping();
      stock.ping();
      await waitUntil('both have heard a pong', () => pongs.length === 2);
      expect(pongs.sort()).toEqual(['stock', 'streaming']);
    });

    it('for closing by either side', async () => {
      for (const first of [0, 1]) {
        const ends = await open();
        const codes = ends.map(closing);
        ends[first]!.close(1000, 'idle');
        expect((await Promise.all(codes))[1 - first]).toBe('1000 idle');
      }
    });
  });
});

describe('a streaming WebSocket', () => {
  it('answers a violation with a close and ends', async () => {
    const [near, far] = duplexPair();
    const socket = new StreamingWebSocket(near, Buffer.alloc(0), { role: 'server', plainMask: true });
    const closed = new Promise((resolve) => {
      socket.on('close', (code) => resolve(code));
    });
    const answer = readAll(far);
    far.end(hex('82 03 010203'));
    expect((await answer).subarray(0, 4).toString('hex')).toMatch(/^88..03ea$/);
    expect(await closed).toBe(1002);
  });

  it('does not buffer pongs for a peer that reads nothing', async () => {
    const [near, far] = duplexPair();
    const socket = new StreamingWebSocket(near, Buffer.alloc(0), { role: 'server', plainMask: true });
    const ping = Buffer.concat([hex('89 fd 00000000'), Buffer.alloc(125, 'p')]);
    const pings = Buffer.concat(Array.from({ length: 10_000 }, () => ping));
    let heard = 0;
    socket.on('ping', () => (heard += 1));
    far.write(pings);
    await waitUntil('all pings are read', () => heard === 10_000);
    expect(socket.bufferedAmount).toBeLessThan(70_000);
    socket.terminate();
  });

  it('calls back when a message is sent, and with an error when it is closed', async () => {
    const [near, far] = duplexPair();
    far.resume();
    const socket = new StreamingWebSocket(near, Buffer.alloc(0), { role: 'server', plainMask: true });
    await new Promise<void>((resolve) => socket.send(Buffer.from('x'), () => resolve()));
    socket.terminate();
    await new Promise<void>((resolve) => socket.send(Buffer.from('x'), (error) => resolve(expect(error).toBeInstanceOf(Error))));
  });
});

describe('the upgrade', () => {
  it('gets the response of RFC 6455 section 1.3', () => {
    const headers = { upgrade: 'websocket', 'sec-websocket-version': '13', 'sec-websocket-key': 'dGhlIHNhbXBsZSBub25jZQ==' };
    expect(upgradeResponse(headers)).toContain('Sec-WebSocket-Accept: s3pPLMBiTxaQ9kYGzzhZRbK+xOo=\r\n');
  });

  it.each([
    ['no key', { 'sec-websocket-key': '' }],
    ['a short key', { 'sec-websocket-key': 'dGhl' }],
    ['another version', { 'sec-websocket-version': '8' }],
    ['another protocol', { upgrade: 'h2c' }],
  ])('is refused with %s', (_name, change) => {
    const headers = { upgrade: 'websocket', 'sec-websocket-version': '13', 'sec-websocket-key': 'dGhlIHNhbXBsZSBub25jZQ==' };
    expect(upgradeResponse({ ...headers, ...change })).toBeUndefined();
  });
});
