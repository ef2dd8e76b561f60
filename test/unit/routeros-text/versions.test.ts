import { describe, expect, test } from 'vitest';
import { isAtLeast, NO_VERSION, plainVersion, seriesKey, versionKey } from '../../../routeros-text/versions.ts';

describe('a version', () => {
  test.each([
    ['7.18.2 (stable)', '7.18.2'],
    ['6.49.10', '6.49.10'],
    [' 7.20beta3 (testing)\r', '7.20beta3'],
    ['', ''],
  ])('%j is plainly %s', (printed, plain) => {
    expect(plainVersion(printed)).toBe(plain);
  });

  test.each([
    ['7.8', true],
    ['7.8.1', true],
    ['7.18.2', true],
    ['7.18.2 (stable)', true],
    ['7.20beta3', true],
    ['7.8rc1', true],
    ['7.24_ab55', true],
    ['7.18-rc1', true],
    ['8.0', true],
    ['10.0', true],
    ['7.7.9', false],
    ['7.7', false],
    ['6.49.10', false],
    ['6.99', false],
    ['7', false],
    ['v7.18', false],
    ['unknown', false],
    ['', false],
  ])('%s is at least 7.8: %s', (version, has) => {
    expect(isAtLeast(version, '7.8')).toBe(has);
  });
});

describe('the key of a version', () => {
  const IN_ORDER = [
    'nothing',
    '6.49.10 (long-term)',
    '6.49.17',
    '7.1beta6',
    '7.9',
    '7.9.1',
    '7.15_ab55',
    '7.15alpha9',
    '7.15beta2',
    '7.15beta10',
    '7.15-rc1',
    '7.15',
    '7.15.1',
    '7.15.10',
    '7.24_ab55',
    '8.0',
    '10.0',
  ];

  test('has the order in which versions are released', () => {
    const keys = IN_ORDER.map(versionKey);
    expect(keys.toSorted()).toEqual(keys);
    expect(new Set(keys).size).toBe(keys.length);
  });

  test('is the same for the same version with a channel behind it', () => expect(versionKey('7.18.2 (stable)')).toBe(versionKey('7.18.2')));

  test('says what is no version', () => {
    for (const text of ['', '7', 'v7.1', 'unknown', '7.x', '123456.1']) expect(versionKey(text), text).toBe(NO_VERSION);
  });

  test('begins with the key of its series, and with no other', () => {
    for (const series of ['7', '7.15', '7.15.1']) expect(versionKey('7.15.1').startsWith(seriesKey(series)!), series).toBe(true);
    for (const series of ['6', '7.1', '7.150', '7.15.10']) expect(versionKey('7.15.1').startsWith(seriesKey(series)!), series).toBe(false);
    expect(seriesKey('7.15rc1')).toBeUndefined();
  });
});
