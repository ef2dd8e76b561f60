import { EventEmitter } from 'node:events';
import { Duplex } from 'node:stream';
import { beforeEach, describe, expect, test } from 'vitest';
import { HISTORY_BYTES, KeptShell } from '../../../agent/terminals/kept-shell.ts';
import type { RouterShell, WindowSize } from '../../../agent/routers/adapter.ts';
import type { ChannelSocket } from '../../../protocol/index.ts';
import { ManualClock } from '../../harness/manual-clock.ts';
import { silentLog } from '../../harness/silent-log.ts';
import { eventually } from '../../harness/wait-until.ts';

const MINUTE_MS = 60_000;
const BLOCK = 64 * 1024;

/** The control plane's end of a channel: takes everything at once. */
class ServerEnd extends EventEmitter implements ChannelSocket {
  readonly bufferedAmount = 0;
  isClosed = false;
  sentEnd = false;
  readonly #sent: Buffer[] = [];

  sentBytes(): Buffer {
    return Buffer.concat(this.#sent);
  }

  receiveText(message: object): void {
    this.emit('message', Buffer.from(JSON.stringify(message)), false);
  }

  receiveBytes(bytes: Buffer): void {
    this.emit('message', bytes, true);
  }

  send(data: string | Buffer, sent?: () => void): void {
    if (typeof data !== 'string' && data.length === 0) this.sentEnd = true;
    if (typeof data !== 'string') this.#sent.push(Buffer.from(data));
    queueMicrotask(() => sent?.());
  }

  ping(): void {}
  pause(): void {}
  resume(): void {}

  close(): void {
    this.terminate();
  }

  terminate(): void {
    this.isClosed = true;
    queueMicrotask(() => this.emit('close', 1006, Buffer.alloc(0)));
  }
}

/** A shell of which the test is the router. */
class FakeShell extends Duplex implements RouterShell {
  typed = '';
  readonly sizes: WindowSize[] = [];
  /** Asked for by the reader; false while it holds the router back. */
  wants = false;

  resize(size: WindowSize): void {
    this.sizes.push(size);
  }

  print(text: string | Buffer): void {
    this.push(text);
  }

  override _read(): void {
    this.wants = true;
  }

  override _write(chunk: Buffer, _encoding: BufferEncoding, done: () => void): void {
    this.typed += chunk.toString();
    done();
  }
}

let clock: ManualClock;
let shell: FakeShell;
let kept: KeptShell;
let dialled: { token: string; socket: ServerEnd }[];
let ends: [string, string][];
let isForgotten: boolean;

beforeEach(() => {
  clock = new ManualClock();
  shell = new FakeShell();
  dialled = [];
  ends = [];
  isForgotten = false;
  kept = new KeptShell({
    id: 'one',
    router: 'edge',
    shell,
    times: { endsAt: clock.sinceBoot() + 120 * MINUTE_MS, idleMs: 10 * MINUTE_MS, keepMs: 5 * MINUTE_MS },
    dialChannel: async (token, attach) => {
      const socket = new ServerEnd();
      dialled.push({ token, socket });
      return attach(socket);
    },
    clock,
    log: silentLog,
    onEnded: (reason, message) => ends.push([reason, message]),
    onForgotten: () => (isForgotten = true),
  });
});

/** A channel on which the control plane has opened its connection. */
async function connect(from = 0): Promise<{ first: number; socket: ServerEnd }> {
  const before = dialled.length;
  const first = kept.resume({ token: `token ${before}`, url: undefined }, from);
  await eventually(() => expect(dialled.length).toBe(before + 1));
  const { socket } = dialled.at(-1)!;
  socket.receiveText({ type: 'open', n: 1 });
  return { first, socket };
}

describe('a shell that outlives its channels', () => {
  test('passes bytes both ways, and the size of the window', async () => {
    const { socket } = await connect();
    shell.print('prompt> ');
    socket.receiveBytes(Buffer.from('ls\r'));
    await eventually(() => expect([socket.sentBytes().toString(), shell.typed]).toEqual(['prompt> ', 'ls\r']));
    kept.resize({ cols: 100, rows: 30 });
    expect(shell.sizes).toEqual([{ cols: 100, rows: 30 }]);
  });

  test('gives a channel that follows exactly what the earlier one did not deliver', async () => {
    const first = await connect();
    shell.print('one two');
    await eventually(() => expect(first.socket.sentBytes().toString()).toBe('one two'));
    shell.print(' three');
    const second = await connect(4);
    expect(second.first).toBe(4);
    await eventually(() => expect(second.socket.sentBytes().toString()).toBe('two three'));
    expect(first.socket.isClosed).toBe(true);
  });

  /** Prints `blocks` of 64 KiB, which the first channel takes. */
  async function printSent(blocks: number): Promise<Buffer> {
    const { socket } = await connect();
    for (let i = 0; i < blocks; i += 1) {
      shell.print(Buffer.alloc(BLOCK, String(i)));
      await eventually(() => expect(socket.sentBytes().length).toBe(BLOCK * (i + 1)));
    }
    return socket.sentBytes();
  }

  test('sends again all that it has when the line broke with much of it on its way', async () => {
    const printed = await printSent(HISTORY_BYTES / BLOCK);
    const { first, socket } = await connect(0);
    expect(first).toBe(0);
    await eventually(() => expect(socket.sentBytes().equals(printed)).toBe(true));
  });

  test('names a later offset when what is asked for is too old', async () => {
    await printSent(8);
    const second = await connect(0);
    expect(second.first).toBe(8 * BLOCK - HISTORY_BYTES);
  });

  test('what the router prints before the reader is back does not take the place of what is sent again', async () => {
    const printed = await printSent(6);
    const first = kept.resume({ token: 'again', url: undefined }, 0);
    await eventually(() => expect(dialled.length).toBe(2));
    const more = Buffer.alloc(8192, 'm');
    shell.print(more);
    const { socket } = dialled[1]!;
    socket.receiveText({ type: 'open', n: 1 });
    const expected = Buffer.concat([printed.subarray(first), more]);
    await eventually(() => expect(socket.sentBytes().length).toBe(expected.length));
    expect(socket.sentBytes().equals(expected)).toBe(true);
  });

  test('holds the router back while nobody reads, and drops nothing', async () => {
    const much = Buffer.alloc(BLOCK / 2, 'y');
    for (let i = 0; i < 3; i += 1) shell.print(much);
    await eventually(() => expect(shell.isPaused()).toBe(true));
    shell.wants = false;
    await new Promise((resolve) => setTimeout(resolve, 20));
    expect(shell.wants).toBe(false);
    const { first, socket } = await connect();
    expect(first).toBe(0);
    await eventually(() => expect(socket.sentBytes().length).toBe(3 * much.length));
    expect(shell.isPaused()).toBe(false);
  });

  test('ends five minutes after its last channel', async () => {
    const { socket } = await connect();
    clock.advance(30 * 1000);
    socket.terminate();
    await new Promise((resolve) => setTimeout(resolve, 20));
    clock.advance(5 * MINUTE_MS - 1);
    expect(ends).toEqual([]);
    clock.advance(1);
    expect(ends).toEqual([['detached', expect.any(String)]]);
    expect([isForgotten, shell.destroyed]).toEqual([true, true]);
  });

  test('ends when no channel ever comes', () => {
    clock.advance(5 * MINUTE_MS);
    expect(ends).toEqual([['detached', expect.any(String)]]);
  });

  test('ends ten minutes after the last key', async () => {
    const { socket } = await connect();
    clock.advance(9 * MINUTE_MS);
    socket.receiveBytes(Buffer.from('x'));
    await eventually(() => expect(shell.typed).toBe('x'));
    clock.advance(10 * MINUTE_MS - 1);
    expect(ends).toEqual([]);
    clock.advance(1);
    expect(ends).toEqual([['idle', expect.any(String)]]);
  });

  test('ends after its longest time, also when keys come', async () => {
    const { socket } = await connect();
    for (let minutes = 0; minutes < 119; minutes += 7) {
      socket.receiveBytes(Buffer.from('x'));
      await eventually(() => expect(shell.typed.length).toBe(minutes / 7 + 1));
      clock.advance(7 * MINUTE_MS);
    }
    clock.advance(MINUTE_MS + 1000);
    expect(ends).toEqual([['expired', expect.any(String)]]);
  });

  test('a shell that has ended still delivers what it printed, to a reader that comes later, too', async () => {
    shell.print('last words');
    shell.print(null as unknown as string);
    await eventually(() => expect(ends).toEqual([['exited', expect.any(String)]]));
    const { socket } = await connect();
    await eventually(() => expect(socket.sentBytes().toString()).toBe('last words'));
    // Once more, because the first report may have been lost with the tunnel.
    expect(ends).toHaveLength(2);
    await eventually(() => expect(socket.sentEnd).toBe(true));
  });
});
