import { EventEmitter } from 'node:events';
import { expect, test } from 'vitest';
import type { ChannelSocket } from '../../../protocol/index.ts';
import { newId } from '../../../server/platform/core/ids.ts';
import { TERMINAL_LIMITS } from '../../../server/work/terminals/limits.ts';
import { LiveTerminal } from '../../../server/work/terminals/live/live-terminal.ts';
import { Recorder } from '../../../server/work/terminals/recording/recorder.ts';
import { fakeSocketPair } from '../../harness/fake-channel-socket.ts';
import { ManualClock } from '../../harness/manual-clock.ts';
import { waitUntil } from '../../harness/wait-until.ts';

/** A client that keeps what it is sent. */
class Client extends EventEmitter implements ChannelSocket {
  readonly bufferedAmount = 0;
  shown = '';

  send(data: string | Buffer): void {
    if (typeof data !== 'string') this.shown += data.toString();
  }

  ping(): void {}
  pause(): void {}
  resume(): void {}
  close(): void {}
  terminate(): void {}
}

function terminal({ storedBytes, onResize = async () => undefined }: { storedBytes?: number; onResize?: () => Promise<void> } = {}) {
  const clock = new ManualClock();
  const parts: string[] = [];
  const size = { cols: 80, rows: 24 };
  const recorder = new Recorder({
    clock,
    startedAt: clock.now(),
    title: 'a terminal',
    size,
    stored: { chunks: storedBytes === undefined ? 0 : 1, chars: 0, outputBytes: storedBytes ?? 0, inputBytes: 0 },
    flushMs: 1000,
    store: async ({ text }) => void parts.push(text),
    onFailure: () => undefined,
    onStored: () => undefined,
  });
  const live = new LiveTerminal({
    id: newId(1),
    teamId: 't',
    routerId: 'r',
    agentId: 'a',
    level: 'read',
    opener: { kind: 'api_key', id: 'k', teamId: 't', source: '::1' },
    size,
    wasConnected: storedBytes !== undefined,
    leftMs: TERMINAL_LIMITS.longestMs,
    recorder,
    clock,
    limits: TERMINAL_LIMITS,
    onResize,
    onAway: () => undefined,
    onFull: () => undefined,
  });
  const recorded = async (): Promise<string> => {
    await recorder.close();
    return parts
      .join('')
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line) as [number, string, string])
      .filter((event) => Array.isArray(event) && event[1] === 'o')
      .map(([, , text]) => text)
      .join('');
  };
  return { live, recorded };
}

/** The agent dials a channel that carries output from this offset on. */
function connect(live: LiveTerminal, from: number): void {
  live.leaveChannel('the line broke');
  live.addChannel(fakeSocketPair()[0]);
  live.expectOutput(from);
}

const print = (live: LiveTerminal, text: string): void => live.output(Buffer.from(text), () => undefined);
const attach = (live: LiveTerminal): Client => {
  const client = new Client();
  live.attach(client);
  return client;
};

const lost = (bytes: number): string => `\r\n[signalbox: ${bytes} bytes of output were lost]\r\n`;

test('output that the agent no longer had is named where it is missing: to the client, to later ones, and in the recording', async () => {
  const { live, recorded } = terminal();
  connect(live, 0);
  const client = attach(live);
  print(live, 'one');
  connect(live, 100);
  print(live, 'two');
  expect(client.shown).toBe(`one${lost(97)}two`);
  expect(attach(live).shown).toBe(`${lost(97)}two`);
  expect(await recorded()).toBe(`one${lost(97)}two`);
  live.leave();
});

test('the same after a restart of the control plane', async () => {
  const { live, recorded } = terminal({ storedBytes: 50 });
  const client = attach(live);
  connect(live, 60);
  print(live, 'two');
  expect(client.shown).toBe(`${lost(10)}two`);
  expect(await recorded()).toBe(`${lost(10)}two`);
  live.leave();
});

test('a gap is named even when nothing follows it', async () => {
  const { live, recorded } = terminal();
  connect(live, 0);
  print(live, 'one');
  connect(live, 7);
  expect(await recorded()).toBe(`one${lost(4)}`);
  live.leave();
});

test('nothing is named where nothing is missing', async () => {
  const { live, recorded } = terminal({ storedBytes: 50 });
  const client = attach(live);
  // From before the stored end: what is recorded already is shown, and not recorded again.
  connect(live, 47);
  print(live, 'onetwo');
  connect(live, 53);
  print(live, 'three');
  expect(client.shown).toBe('onetwothree');
  expect(await recorded()).toBe('twothree');
  live.leave();
});

test('what is typed after a new size of the window waits until the size is on its way to the agent', async () => {
  const told = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  const waits = told.map(({ promise }) => promise);
  const { live } = terminal({ onResize: () => waits.shift()! });
  const client = attach(live);
  const type = (text: string): boolean => client.emit('message', Buffer.from(text), true);
  const resize = (cols: number): boolean => client.emit('message', Buffer.from(JSON.stringify({ resize: { cols, rows: 24 } })), false);
  type('a');
  expect(live.takeInput()?.toString()).toBe('a');
  resize(100);
  type('b');
  resize(120);
  told[0]!.resolve();
  await told[0]!.promise;
  expect(live.takeInput()).toBeUndefined();
  told[1]!.resolve();
  expect(await waitUntil('both are on their way', () => live.takeInput())).toEqual(Buffer.from('b'));
  live.leave();
});
