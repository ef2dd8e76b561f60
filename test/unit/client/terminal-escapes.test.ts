import { describe, expect, test } from 'vitest';
import { EscapeReader, withoutQueries } from '../../../client/cli/terminal/escapes.ts';

describe('what a person types into a terminal', () => {
  test.each([
    ['~.', '', 'end'],
    ['~&', '', 'leave'],
    ['ls\r~.', 'ls\r', 'end'],
    ['~~\r', '~\r', undefined],
    ['~x', '~x', undefined],
    ['a~.', 'a~.', undefined],
    ['\n~.more', '\n', 'end'],
    ['~\r~.', '~\r', 'end'],
  ])('%j goes on as %j and asks for %s', (typed, sent, asked) => {
    const { bytes, escape } = new EscapeReader().read(Buffer.from(typed));
    expect([bytes.toString(), escape]).toEqual([sent, asked]);
  });

  test('an escape may come key by key', () => {
    const reader = new EscapeReader();
    const read = ['\r', '~', '.'].map((key) => reader.read(Buffer.from(key)));
    expect(read.map(({ bytes }) => bytes.toString())).toEqual(['\r', '', '']);
    expect(read.at(-1)?.escape).toBe('end');
  });
});

test('output of the past asks the terminal nothing', () => {
  const past = Buffer.from('a\u001b[6nb\u001b[cc\u001bZd\u001b[>0ce\u001b[31mred');
  expect(withoutQueries(past).toString()).toBe('abcde\u001b[31mred');
});
