import { describe, expect, it } from 'vitest';
import { degreesOf } from '../../../console/src/parts/number-of.ts';

describe('typed degrees of a position', () => {
  it.each([
    ['57.12', 57.12],
    [' -24,5 ', -24.5],
    ['0', 0],
    ['', null],
  ])('%j is %j', (text, degrees) => {
    expect(degreesOf(text)).toBe(degrees);
  });

  it.each(['57.1.2', 'north', 'Infinity'])('%j goes to the server as it is, which refuses it instead of clearing the position', (text) => {
    expect(JSON.parse(JSON.stringify({ latitude: degreesOf(text) }))).toEqual({ latitude: text });
  });
});
