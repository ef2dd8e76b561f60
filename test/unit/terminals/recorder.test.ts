import { beforeEach, describe, expect, test } from 'vitest';
import { unfinishedBytes } from '../../../server/work/terminals/recording/cast.ts';
import { Recorder } from '../../../server/work/terminals/recording/recorder.ts';
import type { RecordedPart } from '../../../server/work/terminals/recording/recorder.ts';
import { ManualClock } from '../../harness/manual-clock.ts';
import { eventually } from '../../harness/wait-until.ts';

describe('the beginning of a character at the end', () => {
  test.each([
    ['a', 0],
    ['ü', 0],
    ['\u{1f600}', 0],
    ['', 0],
  ])('%j has none', (text, bytes) => {
    expect(unfinishedBytes(Buffer.from(text))).toBe(bytes);
  });

  test.each(['ü', '€', '\u{1f600}'])('%s, cut anywhere', (text) => {
    const whole = Buffer.from(`a${text}`);
    for (let length = 2; length < whole.length; length += 1) expect(unfinishedBytes(whole.subarray(0, length))).toBe(length - 1);
  });

  test('what is no UTF-8 waits for nothing', () => {
    expect(unfinishedBytes(Buffer.from([0x61, 0x80, 0x80, 0x80, 0x80]))).toBe(0);
  });
});

let clock: ManualClock;
let parts: RecordedPart[];
let isDown: boolean;
let failures: number;
const stored = { chunks: 0, chars: 0, outputBytes: 0, inputBytes: 0 };

beforeEach(() => {
  clock = new ManualClock();
  parts = [];
  isDown = false;
  failures = 0;
});

function record(from = stored): Recorder {
  return new Recorder({
    clock,
    startedAt: clock.now(),
    title: 'a terminal',
    size: { cols: 80, rows: 24 },
    stored: from,
    flushMs: 1000,
    store: async (part) => {
      if (isDown) throw new Error('no database');
      parts.push(part);
    },
    onFailure: () => (failures += 1),
    onStored: () => undefined,
  });
}

const lines = (): unknown[] =>
  parts
    .map(({ text }) => text)
    .join('')
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as unknown);

test('records output with its time, characters whole, and the size of the window', async () => {
  const recorder = record();
  const bytes = Buffer.from('grüße');
  recorder.output(0, bytes.subarray(0, 3));
  clock.advance(500);
  recorder.output(3, bytes.subarray(3));
  recorder.resize({ cols: 100, rows: 30 });
  clock.advance(500);
  await eventually(() => expect(parts).toHaveLength(1));
  expect(lines()).toEqual([
    expect.objectContaining({ version: 2, width: 80, height: 24 }),
    [0, 'o', 'gr'],
    [0.5, 'o', 'üße'],
    [0.5, 'r', '100x30'],
  ]);
  expect(parts[0]).toMatchObject({ number: 0, outputBytes: bytes.length });
});

test('what was recorded before is not recorded again, and a gap is named', async () => {
  const recorder = record({ chunks: 3, chars: 500, outputBytes: 10, inputBytes: 2 });
  recorder.output(6, Buffer.from('6789new'));
  recorder.output(20, Buffer.from('later'));
  await recorder.close();
  expect(lines()).toEqual([
    [0, 'o', 'new'],
    [0, 'o', '\r\n[signalbox: 7 bytes of output were lost]\r\n'],
    [0, 'o', 'later'],
  ]);
  expect(parts[0]).toMatchObject({ number: 3, outputBytes: 25, inputBytes: 2 });
});

test('a database that is away loses nothing: what waits is stored later, in order', async () => {
  const recorder = record();
  isDown = true;
  recorder.output(0, Buffer.from('one '));
  clock.advance(1000);
  await eventually(() => expect(failures).toBe(1));
  recorder.output(4, Buffer.from('two'));
  expect(recorder.unstored).toBeGreaterThan(0);
  isDown = false;
  clock.advance(1000);
  await eventually(() => expect(recorder.unstored).toBe(0));
  expect(lines().slice(1)).toEqual([
    [0, 'o', 'one '],
    [1, 'o', 'two'],
  ]);
});

test('a rest that is no whole character is recorded at the end', async () => {
  const recorder = record();
  recorder.output(0, Buffer.from([0x61, 0xe2, 0x82]));
  await recorder.close();
  expect(lines().slice(1)).toEqual([
    [0, 'o', 'a'],
    [0, 'o', '\ufffd'],
  ]);
});

test('a gap behind a character that was cut is named once, and nothing after it is missing', async () => {
  const recorder = record();
  const euro = Buffer.from('€');
  recorder.output(0, euro.subarray(0, 2));
  recorder.output(10, Buffer.from('abc'));
  recorder.output(13, Buffer.from('def'));
  await recorder.close();
  expect(lines().slice(1)).toEqual([
    [0, 'o', '\r\n[signalbox: 8 bytes of output were lost]\r\n'],
    [0, 'o', 'abc'],
    [0, 'o', 'def'],
  ]);
  expect(recorder.recorded).toBe(16);
});
