import { expect, test } from 'vitest';
import { isTrue, leadingNumber, parseBytes, recordLine } from '../../../routeros-text/values.ts';

test.each<[string | undefined, number | undefined]>([
  ['41164', 41_164],
  ['0', 0],
  ['40.2KiB', 41_165],
  ['40.2 KiB', 41_165],
  ['15 360', 15_360],
  ['1.5MiB', 1_572_864],
  ['2GiB', 2 ** 31],
  ['1TiB', 2 ** 40],
  ['7B', 7],
  ['1.2.3', undefined],
  ['KiB', undefined],
  ['none', undefined],
  ['', undefined],
  [undefined, undefined],
])('%j is %j bytes', (text, bytes) => {
  expect(parseBytes(text)).toBe(bytes);
});

test.each<[string | undefined, number | undefined]>([
  ['24.1', 24.1],
  ['24.1V', 24.1],
  ['2%', 2],
  ['-5C', -5],
  ['x5', undefined],
  [undefined, undefined],
])('%j begins with %j', (text, number) => {
  expect(leadingNumber(text)).toBe(number);
});

test.each<[string | undefined, boolean]>([
  ['true', true],
  ['yes', true],
  ['false', false],
  ['no', false],
  ['', false],
  [undefined, false],
])('%j is %j', (text, value) => {
  expect(isTrue(text)).toBe(value);
});

test.each([
  ['             time: 10:00:47', ['time', '10:00:47']],
  ['gmt-offset: +01:00\r', ['gmt-offset', '+01:00']],
  ['name: ', ['name', '']],
  [' ;;; note', undefined],
  ['Name: x', undefined],
])('%j is the record line %j', (line, expected) => {
  expect(recordLine(line)).toEqual(expected);
});
