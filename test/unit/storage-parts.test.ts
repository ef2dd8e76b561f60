import { describe, expect, test } from 'vitest';
import { AppError } from '../../server/platform/core/errors.ts';
import { fromFlag, fromJson, inChunks, storableText, toFlag, toIso, toJson } from '../../server/platform/storage/columns.ts';
import { checkParameters } from '../../server/platform/storage/parameters.ts';
import { typedStorageError } from '../../server/platform/storage/storage-errors.ts';

describe('columns', () => {
  test('flags are 0, 1 or null', () => {
    expect([toFlag(true), toFlag(false)]).toEqual([1, 0]);
    expect([fromFlag(1), fromFlag(0), fromFlag(null)]).toEqual([true, false, null]);
  });

  test('JSON is read back unchanged', () => {
    expect(fromJson(toJson({ a: [1, null, 'ä'] }))).toEqual({ a: [1, null, 'ä'] });
  });

  test('times are shown in UTC', () => {
    expect([toIso(0), toIso(null)]).toEqual(['1970-01-01T00:00:00.000Z', null]);
  });

  test.each([
    ['a\0b', 'a\uFFFDb'],
    ['cut \ud83d', 'cut \uFFFD'],
    ['whole 🚂', 'whole 🚂'],
  ])('%j from a device is stored as %j', (text, stored) => {
    expect(storableText(text)).toBe(stored);
    expect(() => checkParameters([stored])).not.toThrow();
  });

  test('many rows are inserted in chunks', () => {
    expect(inChunks([1, 2, 3, 4, 5], 2)).toEqual([[1, 2], [3, 4], [5]]);
    expect(inChunks([])).toEqual([]);
  });
});

test.each([
  ['SQLITE_FULL', 'unavailable'],
  ['SQLITE_IOERR_FSYNC', 'unavailable'],
  ['SQLITE_BUSY_SNAPSHOT', 'unavailable'],
  ['ECONNREFUSED', 'unavailable'],
  ['57P01', 'unavailable'],
  ['25P03', 'unavailable'],
  ['25006', 'unavailable'],
  ['40001', 'unavailable'],
  ['SQLITE_CONSTRAINT_UNIQUE', undefined],
  ['SQLITE_ERROR', undefined],
  ['23505', undefined],
  ['42601', undefined],
])('an engine that says %s is %s', (code, expected) => {
  const typed = typedStorageError(Object.assign(new Error('x'), { code }));
  expect(typed instanceof AppError ? typed.code : undefined).toBe(expected);
});
