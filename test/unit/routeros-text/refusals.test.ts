import { describe, expect, test } from 'vitest';
import { failureIn, refusalIn, syntaxErrorIn } from '../../../routeros-text/refusals.ts';

describe('console output', () => {
  test.each([
    'failure: already have such address (/ip/address/add; line 1)',
    'something of my own (:error; line 3)',
    'expected end of command (line 1 column 23)',
    'bad command name frobnicate (line 1 column 14)',
    'not enough permissions (9) (/user/add; line 1)',
    'no such item (4)',
    'input does not match any value of interface',
    'Script Error: failure: x',
    'interrupted',
  ])('is a failure: %s', (line) => {
    expect(failureIn(`printed before\n${line}\n`)).toBe(line);
  });

  test.each(['all is well', 'the failure: was elsewhere', 'expected 3, got 3', '10.0.0.1 (line 4)', ''])('is not a failure: %s', (line) => {
    expect(failureIn(`${line}\n`)).toBeUndefined();
  });

  // Printed by a CHR 7.23.3 for :put [:parse "…"].
  test.each([
    ['(evl bad parameter no-such-arg (line 1 column 28) /ip/address/add)', 'bad parameter no-such-arg (line 1 column 28)'],
    ['(<%% bad command name zzz (line 1 column 2) zzz;qqq;print)', 'bad command name zzz (line 1 column 2)'],
    ['expected end of command (line 4 column 11)', 'expected end of command (line 4 column 11)'],
    ['syntax error (line 1 column 9)', 'syntax error (line 1 column 9)'],
  ])('is a syntax error: %s', (parsed, error) => {
    expect(syntaxErrorIn(`${parsed}\n`)).toBe(error);
  });

  test.each([
    '(evl /ip/address/print)',
    "(evl /putmessage=expected: 'hello world' not just 'hello' string)",
    '(evl /putmessage=syntax error (line 1 column 9))',
    '(evl /localname=$Expected;value=(evl (evl /tostrvalue=$3)))',
  ])('is a script that parses: %s', (parsed) => {
    expect(syntaxErrorIn(`${parsed}\n`)).toBeUndefined();
  });
});

describe('a refusal of a single command', () => {
  test.each([
    'no such command prefix',
    'bad parameter foo (line 1 column 28)',
    'missing value(s) of argument(s) numbers',
    'not enough permissions (9)',
  ])('is: %s', (line) => {
    expect(refusalIn(`${line}\n`)).toBe(line);
  });

  test('is not read from the end of a row, where a device may put any text', () => {
    const row = ' 0 D address=10.0.0.9 host-name=phone (:error; line 3)';
    expect(failureIn(row)).toBe(row);
    expect(refusalIn(row)).toBeUndefined();
  });
});
