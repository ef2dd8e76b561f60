import { describe, expect, test } from 'vitest';
import { isAtLeast, plainVersion } from '../../../routeros-text/versions.ts';

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
  ])('%s has what came with 7.8: %s', (version, has) => {
    expect(isAtLeast(version, '7.8')).toBe(has);
  });
});
