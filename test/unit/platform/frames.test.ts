import { expect, test } from 'vitest';
import { Assembly, FRAME_HEADER_BYTES, framesOf, MAX_VALUE_BYTES, readFrame } from '../../../server/platform/bus/frames.ts';
import type { Frame } from '../../../server/platform/bus/frames.ts';

const SMALL = { kind: 'item', number: 0, mostBytes: FRAME_HEADER_BYTES + 10 } as const;

const read = (frames: readonly Buffer[]): Frame[] => frames.map((frame) => readFrame(frame)!);

test('a value is the same after its way, in one frame or in several', () => {
  for (const value of [null, 0, '', 'ä'.repeat(100), { rows: [{ name: 'é' }] }, [1, [2]]]) {
    for (const mostBytes of [FRAME_HEADER_BYTES + 1, FRAME_HEADER_BYTES + 7, 64_000]) {
      const frames = framesOf(value, { ...SMALL, mostBytes });
      expect(frames.every(({ length }) => length <= mostBytes)).toBe(true);
      const assembly = new Assembly();
      const results = read(frames).map((frame) => assembly.add(frame));
      expect(results.at(-1)).toEqual({ value, bytes: Buffer.byteLength(JSON.stringify(value)) });
      expect(results.slice(0, -1).every((result) => result === undefined)).toBe(true);
    }
  }
});

test('frames are numbered on from one value to the next', () => {
  const first = framesOf('a'.repeat(25), SMALL);
  const second = framesOf('b', { ...SMALL, number: first.length });
  const assembly = new Assembly();
  const results = read([...first, ...second]).map((frame) => assembly.add(frame));
  expect(results.filter((result) => result !== undefined)).toMatchObject([{ value: 'a'.repeat(25) }, { value: 'b' }]);
});

test.each([
  ['a frame is lost', (frames: Frame[]) => frames.toSpliced(1, 1)],
  ['the first frame is lost', (frames: Frame[]) => frames.slice(1)],
  ['a frame comes twice', (frames: Frame[]) => frames.toSpliced(1, 0, frames[0]!)],
  ['two frames are swapped', (frames: Frame[]) => [frames[1]!, frames[0]!]],
])('the value is lost when %s', (_what, change) => {
  const assembly = new Assembly();
  const results = change(read(framesOf('a'.repeat(25), SMALL))).map((frame) => assembly.add(frame));
  expect(results).toContain('lost');
});

test('what is no JSON is lost', () => {
  const [frame] = read(framesOf('text', { ...SMALL, mostBytes: 1000 }));
  expect(new Assembly().add({ ...frame!, part: Buffer.from('{') })).toBe('lost');
});

test('a value may be as large as the limit, and not larger, for the sender and for the receiver', () => {
  const most = 'x'.repeat(MAX_VALUE_BYTES - 2);
  expect(framesOf(most, { ...SMALL, mostBytes: 1024 * 1024 })).toHaveLength(5);
  expect(() => framesOf(`${most}x`, { ...SMALL, mostBytes: 1024 * 1024 })).toThrow('larger than');
  const assembly = new Assembly();
  const part = Buffer.alloc(MAX_VALUE_BYTES / 2 + 1, 'x');
  const frame: Frame = { kind: 'item', isLast: false, number: 0, remainingMs: 0, part };
  expect(assembly.add(frame)).toBeUndefined();
  expect(assembly.add({ ...frame, number: 1 })).toBe('lost');
});

test('the remaining time travels with an ask', () => {
  const [frame] = read(framesOf(1, { kind: 'ask', number: 0, mostBytes: 1000, remainingMs: 1234.9 }));
  expect(frame).toMatchObject({ kind: 'ask', isLast: true, remainingMs: 1234 });
  const [long] = read(framesOf(1, { kind: 'ask', number: 0, mostBytes: 1000, remainingMs: 1e15 }));
  expect(long?.remainingMs).toBe(0xffff_ffff);
});

test('bytes of another version or kind are no frame', () => {
  const [good] = framesOf(1, { ...SMALL, mostBytes: 1000 });
  const version = Buffer.from(good!);
  version[0] = 2;
  const kind = Buffer.from(good!);
  kind[1] = 99;
  expect([version, kind, good!.subarray(0, FRAME_HEADER_BYTES - 1)].map((bytes) => readFrame(bytes))).toEqual([
    undefined,
    undefined,
    undefined,
  ]);
});
