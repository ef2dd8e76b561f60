import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { COMMON_MIXTURES, COMMON_PASSWORDS } from '../../../server/access/teams/common-passwords.ts';
import { guessProblemOf, lengthProblemOf } from '../../../server/access/teams/unfit-password.ts';
import { newSecret } from '../../../server/platform/core/ids.ts';

const EMAIL = 'ada.lovelace@depot-madrid.example.org';

describe('a password that somebody would guess', () => {
  test.each([
    ...[
      'password',
      'Password',
      'PASSWORD1234',
      'P@ssw0rd!',
      '123password',
      'pa$$word',
      'football99',
      'Welcome2031',
      'mikrotik1',
      'sunshine!!',
    ].map(common),
    ...['summer 2031', 'trustno1', '1q2w3e4r', 'a1b2c3d4', '147258369', 'letmein!', 'Router-01', 'ch4ngeme'].map(common),
    ...['aaaaaaaa', '12121212', 'abcabcabc', 'abcabcab', '19841984', '!!!!!!!!!!!!', 'horsehorse'].map(repeated),
    ...['123456789012', '1234567890ab', 'qwertyuiop12', 'abcdefgh', '87654321', 'asdfghjkl', 'qwertz1234', 'azertyuiop', 'zyxw4321'].map(
      rows,
    ),
    ...['!@#$%^&*', 'qweasdzxc', '1qaz2wsx', 'aaaabbbbcccc', 'QWERTYUI'].map(rows),
    ...['ada.lovelace', 'AdaLovelace', 'lovelace1815', 'ada12345', EMAIL, 'depot-madrid', 'Example2031'].map(own),
    ...['signalbox', 'Signalbox!', 'signalbox2031', 'S1gnalb0x'].map(ours),
  ])('is refused: %s', (password, reason) => {
    expect(guessProblemOf(password, EMAIL)).toBe(reason);
  });

  test.each([
    'correct horse battery',
    'battery staple',
    'signalbox-demo',
    'known to ada',
    'my password is long',
    'tramway7 to the sea',
    'Łódź€ kolej',
  ])('is not: %s', (password) => {
    expect(guessProblemOf(password, EMAIL)).toBeUndefined();
  });

  test('is each common one with digits and signs around it, in any case', () => {
    const word = fc.constantFrom(...COMMON_PASSWORDS);
    const added = fc.stringMatching(/^[0-9!.#-]{4,8}$/);
    fc.assert(
      fc.property(word, added, fc.boolean(), (common, digits, isUpper) => {
        expect(guessProblemOf(`${isUpper ? common.toUpperCase() : common}${digits}`, EMAIL)).toBeDefined();
      }),
    );
  });

  test('is whatever is repeated, and each part of a row', () => {
    fc.assert(
      fc.property(fc.string({ minLength: 1, maxLength: 20 }), (piece) => {
        expect(guessProblemOf(piece.repeat(8), EMAIL)).toBeDefined();
      }),
    );
    const row = fc.constantFrom('abcdefghijklmnopqrstuvwxyz', '1234567890', 'qwertyuiop', 'poiuytrewq');
    fc.assert(
      fc.property(row, fc.nat(2), fc.nat(18), (keys, from, more) => {
        expect(guessProblemOf(keys.slice(from, from + 8 + more), EMAIL)).toBeDefined();
      }),
    );
  });

  test('is no sentence of words, and none that is generated', () => {
    const words = ['river', 'copper', 'tram', 'signal', 'window', 'harbour', 'password', 'ada', 'summer'];
    fc.assert(
      fc.property(fc.shuffledSubarray(words, { minLength: 3, maxLength: 6 }), (chosen) => {
        expect(guessProblemOf(chosen.join(' '), EMAIL)).toBeUndefined();
      }),
    );
    for (let made = 0; made < 1000; made += 1) expect(guessProblemOf(newSecret(20), EMAIL)).toBeUndefined();
  });
});

test('the list has each of them once, as it is compared', () => {
  for (const word of COMMON_PASSWORDS) expect(word).toMatch(/^[a-z]+$/);
  for (const mixture of COMMON_MIXTURES) expect(mixture).toMatch(/^(?=.*\d)[a-z\d]{8,}$/);
});

function common(password: string): [string, string] {
  return [password, 'must not be one of the most common ones, nor one with digits or signs added'];
}

function repeated(password: string): [string, string] {
  return [password, 'must be more than one piece that is repeated'];
}

function rows(password: string): [string, string] {
  return [password, 'must be more than rows of keys, letters or digits'];
}

function own(password: string): [string, string] {
  return [password, 'must not be your email address or a part of it'];
}

function ours(password: string): [string, string] {
  return [password, 'must not be the name of this product'];
}

test.each([
  ['short', 'must have 8 to 256 characters'],
  ['x'.repeat(257), 'must have 8 to 256 characters'],
  ['x'.repeat(8), undefined],
  ['x'.repeat(256), undefined],
])('the length of %j', (password, problem) => {
  expect(lengthProblemOf(password)).toBe(problem);
});
