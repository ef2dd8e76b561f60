import { describe, expect, it } from 'vitest';
import { isAnswer } from '../../../console/src/terminal/answers.ts';

const ESC = '\u001B';

describe('what a screen says by itself', () => {
  it.each(['[24;80R', '[?1;1R', '[?1;2c', '[>0;276;0c', '[0n', '[8;24;80t', '[?2004;1$y', '[4;2$y', 'P1$r0m', ']10;rgb:0/0/0'])(
    '%s',
    (text) => expect(isAnswer(ESC + text)).toBe(true),
  );

  it.each([
    'a',
    '\r',
    '\u0003',
    ESC,
    `${ESC}[A`,
    `${ESC}OA`,
    `${ESC}[15~`,
    `${ESC}[1;5D`,
    `${ESC}[<0;1;1M`,
    `${ESC}[200~two\rlines${ESC}[201~`,
  ])('a person says %j', (text) => expect(isAnswer(text)).toBe(false));
});
