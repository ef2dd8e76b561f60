import net from 'node:net';
import type { LookupAddress } from 'node:dns';
import { describe, expect, test } from 'vitest';
import { isPublicAddress, mayConnect } from '../../../server/platform/core/public-address.ts';
import { notifyUrlProblem } from '../../../server/work/jobs/notify-url.ts';
import { guardedLookup } from '../../../server/platform/outgoing/lookup.ts';
import type { ResolveName } from '../../../server/platform/outgoing/lookup.ts';
import { checkTarget, TargetRefused } from '../../../server/platform/outgoing/target.ts';

/** What may not be reached, and by which spellings people try. */

const STRICT = { allowLoopback: false };
const DEVELOPMENT = { allowLoopback: true };

const PRIVATE = [
  '127.0.0.1',
  '127.255.255.254',
  '0.0.0.0',
  '0.1.2.3',
  '10.0.0.1',
  '10.255.255.255',
  '172.16.0.1',
  '172.31.255.255',
  '192.168.1.1',
  '169.254.169.254',
  '169.254.0.1',
  '100.64.0.1',
  '100.127.255.255',
  '192.0.0.8',
  '192.0.2.1',
  '198.18.0.1',
  '198.51.100.1',
  '203.0.113.1',
  '192.88.99.1',
  '224.0.0.1',
  '239.255.255.255',
  '240.0.0.1',
  '255.255.255.255',
  '::',
  '::1',
  '::127.0.0.1',
  '::ffff:127.0.0.1',
  '::ffff:8.8.8.8',
  '::ffff:0:127.0.0.1',
  '64:ff9b::7f00:1',
  '64:ff9b:1::1',
  '100::1',
  '2001::1',
  '2001:db8::1',
  '2002:7f00:1::1',
  'fc00::1',
  'fd00::1',
  'fdff::1',
  'fe80::1',
  'fe80::1%eth0',
  'fec0::1',
  'ff02::1',
  '3fff::1',
  '5f00::1',
  '4000::1',
];
const PUBLIC = [
  '1.1.1.1',
  '8.8.8.8',
  '9.255.255.255',
  '11.0.0.1',
  '172.15.255.255',
  '172.32.0.1',
  '100.63.255.255',
  '100.128.0.1',
  '2606:4700::1111',
  '2a00:1450:4003::1',
];

describe('an address', () => {
  test.each(PRIVATE)('%s is not public', (address) => {
    expect(isPublicAddress(address)).toBe(false);
    expect(mayConnect('hooks.example.com', address, STRICT)).toBe(false);
  });
  test.each(PUBLIC)('%s is public', (address) => {
    expect(mayConnect('hooks.example.com', address, STRICT)).toBe(true);
  });
  test.each(['', 'localhost', '1.2.3', '1.2.3.4.5', '0x7f000001', '2130706433', '010.0.0.1'])('"%s" is none', (text) => {
    expect(isPublicAddress(text)).toBe(false);
  });
});

describe('a URL', () => {
  const reason = (url: string, rules = STRICT): string | undefined => {
    try {
      checkTarget(new URL(url), rules);
      return undefined;
    } catch (error) {
      return (error as TargetRefused).word;
    }
  };

  test.each([
    'https://127.0.0.1/',
    'https://127.1/',
    'https://2130706433/',
    'https://0x7f000001/',
    'https://0x7f.0.0.1/',
    'https://0177.0.0.1/',
    'https://017700000001/',
    'https://127.0.0.1./',
    'https://0/',
    'https://0.0.0.0:8443/',
    'https://10.0.0.1/',
    'https://167772161/',
    'https://012.0.0.1/',
    'https://169.254.169.254/latest/meta-data/',
    'https://0xa9fea9fe/',
    'https://2852039166/',
    'https://１２７.０.０.１/',
    'https://[::1]/',
    'https://[0:0:0:0:0:0:0:1]/',
    'https://[::ffff:127.0.0.1]/',
    'https://[::ffff:7f00:1]/',
    'https://[fd00::1]/',
    'https://[fe80::1]/',
    'https://[::]/',
    'https://[64:ff9b::a00:1]/',
    'https://[2002:a00:1::]/',
    'https://localhost/',
    'https://hooks.LOCALHOST./',
  ])('%s is refused by its address, when it is named and when it is called', (url) => {
    expect(notifyUrlProblem(url, STRICT)).toMatch(/^must lead to a public address, which .+ is not$/);
    expect(reason(url)).toBe('address_refused');
  });

  test.each([
    'http://hooks.example.com/',
    'http://1.1.1.1/',
    'http://127.0.0.1/',
    'http://localhost/',
    'ftp://hooks.example.com/',
    'file:///etc/passwd',
    'data:,x',
  ])('%s is refused by its scheme', (url) => {
    expect(notifyUrlProblem(url, STRICT)).toBe('must be an https URL');
    expect(reason(url)).toBe('url_refused');
  });

  test.each(['https://hooks.example.com/', 'https://1.1.1.1:8443/x', 'https://[2606:4700::1111]/'])('%s may be tried', (url) => {
    expect(notifyUrlProblem(url, STRICT)).toBeUndefined();
    expect(reason(url)).toBeUndefined();
  });

  test.each([
    ['http://127.0.0.1:3000/', undefined],
    ['http://localhost:3000/', undefined],
    ['http://[::1]:3000/', undefined],
    ['https://127.0.0.1:3000/', undefined],
    ['http://10.0.0.1/', 'url_refused'],
    ['https://10.0.0.1/', 'address_refused'],
    ['https://[::ffff:127.0.0.1]/', 'address_refused'],
    ['http://hooks.example.com/', 'url_refused'],
    ['http://localhost.example.com/', 'url_refused'],
  ])('in development %s is %s', (url, word) => {
    expect(notifyUrlProblem(url, DEVELOPMENT) === undefined).toBe(word === undefined);
    expect(reason(url, DEVELOPMENT)).toBe(word);
  });
});

describe('a name', () => {
  type Found = { error: Error | null; addresses: string[] };

  function look(hostname: string, resolve: ResolveName, rules = STRICT): Promise<Found> {
    const { promise, resolve: done } = Promise.withResolvers<Found>();
    guardedLookup(resolve, rules)(hostname, { all: true }, (error, addresses) => {
      done({ error, addresses: error ? [] : (addresses as LookupAddress[]).map(({ address }) => address) });
    });
    return promise;
  }

  const leadsTo =
    (...addresses: string[]): ResolveName =>
    () =>
      Promise.resolve(addresses);

  test.each(PRIVATE.filter((address) => net.isIP(address) !== 0))('that leads to %s leads nowhere', async (address) => {
    expect(await look('hooks.example.com', leadsTo(address))).toMatchObject({ error: { word: 'address_refused' } });
    expect(await look('hooks.example.com', leadsTo(address), DEVELOPMENT)).toMatchObject({ error: { word: 'address_refused' } });
  });

  test('that leads to several addresses leads to the public ones', async () => {
    expect(await look('hooks.example.com', leadsTo('10.0.0.1', '1.1.1.1', '::1', '2606:4700::1111'))).toEqual({
      error: null,
      addresses: ['1.1.1.1', '2606:4700::1111'],
    });
  });

  test('that changes between two look-ups is judged at each', async () => {
    const answers = [['1.1.1.1'], ['127.0.0.1']];
    const rebinding: ResolveName = () => Promise.resolve(answers.shift()!);
    expect((await look('rebind.example.com', rebinding)).addresses).toEqual(['1.1.1.1']);
    expect((await look('rebind.example.com', rebinding)).error).toBeInstanceOf(TargetRefused);
  });

  test.each(['localhost', 'LOCALHOST', 'localhost.', 'a.localhost'])('%s is this machine, whatever the name server says', async (name) => {
    expect((await look(name, leadsTo('1.1.1.1'))).error).toBeInstanceOf(TargetRefused);
    expect((await look(name, leadsTo('1.1.1.1'), DEVELOPMENT)).addresses).toEqual(['127.0.0.1', '::1']);
  });

  test('a socket that wants one address gets one', async () => {
    const { promise, resolve: done } = Promise.withResolvers<unknown[]>();
    guardedLookup(leadsTo('10.0.0.1', '1.1.1.1'), STRICT)('hooks.example.com', {}, (...answer) => done(answer));
    expect(await promise).toEqual([null, '1.1.1.1', 4]);
  });

  test('that does not exist is said so', async () => {
    const missing: ResolveName = () => Promise.reject(Object.assign(new Error('no'), { code: 'ENOTFOUND' }));
    expect(await look('hooks.example.com', missing)).toMatchObject({ error: { code: 'ENOTFOUND' } });
  });
});

describe('a network that the operator has allowed', () => {
  const OFFICE = { allowLoopback: false, privateNetworks: ['10.20.0.0/16', 'fd00:1::/32', '192.168.1.7'] };

  test.each([
    ['10.20.0.1', true],
    ['192.168.1.7', true],
    ['fd00:1::5', true],
    ['1.1.1.1', true],
    ['10.21.0.1', false],
    ['192.168.1.8', false],
    ['fd00:2::5', false],
    ['169.254.169.254', false],
    ['127.0.0.1', false],
    // The same address in another notation is not what the operator has named.
    ['::ffff:10.20.0.1', false],
    ['2002:0a14:0001::1', false],
  ])('%s is reached: %s', (address, allowed) => {
    expect(mayConnect('ntfy.lan', address, OFFICE)).toBe(allowed);
    // Without TLS nothing public is.
    expect(mayConnect('ntfy.lan', address, { ...OFFICE, noPublic: true })).toBe(allowed && address !== '1.1.1.1');
  });

  test.each([
    ['http://10.20.0.1/', true],
    ['http://ntfy.lan/', true],
    ['http://[fd00:1::5]:8080/', true],
    ['http://10.21.0.1/', false],
    ['http://1.1.1.1/', false],
    ['http://localhost/', false],
    ['https://10.20.0.1/', true],
    ['https://10.21.0.1/', false],
  ])('%s may be tried: %s', (url, allowed) => {
    const check = (): void => checkTarget(new URL(url), OFFICE);
    if (allowed) expect(check).not.toThrow();
    else expect(check).toThrow(TargetRefused);
  });
});
