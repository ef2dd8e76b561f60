import { describe, expect, it } from 'vitest';
import { AppError } from '../../../server/platform/core/errors.ts';
import { normaliseDestination, normaliseSource, sourceMatcher } from '../../../server/work/forwards/policy.ts';
import { timeToExpire } from '../../../server/work/forwards/time-to-expire.ts';

const HOW = 'The operator of the control plane allows private ones by SIGNALBOX_ALLOW_PRIVATE_SOURCES=on';

function refusal(work: () => unknown): Record<string, string[]> | undefined {
  try {
    work();
    return undefined;
  } catch (error) {
    return error instanceof AppError ? error.errors : { thrown: [String(error)] };
  }
}

describe('allow_from', () => {
  it.each([
    ['8.8.8.8', '8.8.8.8/32'],
    ['8.8.8.8/32', '8.8.8.8/32'],
    ['8.8.8.200/24', '8.8.8.0/24'],
    ['8.8.8.200/25', '8.8.8.128/25'],
    [' 8.8.8.8 ', '8.8.8.8/32'],
    ['::ffff:8.8.8.8', '8.8.8.8/32'],
    ['203.0.113.7', '203.0.113.7/32'],
    ['2a00:1450::1', '2a00:1450::1/128'],
    ['2a00:1450:1:2::1/48', '2a00:1450:1::/48'],
  ])('%s is kept as %s', (given, kept) => {
    expect(normaliseSource(given, { allowPrivate: false })).toBe(kept);
  });

  it.each([
    ['8.8.8.8/23', 'the prefix length must be from /24 to /32'],
    ['8.8.8.8/33', 'the prefix length must be from /24 to /32'],
    ['8.8.8.8/0', 'the prefix length must be from /24 to /32'],
    ['2a00:1450::/47', 'the prefix length must be from /48 to /128'],
    ['8.8.8.8/', 'the prefix length must be from /24 to /32'],
    ['8.8.8.8/024', 'the prefix length must be from /24 to /32'],
    ['8.8.8.8/24/24', 'must be one IP address or a CIDR'],
    ['8.8.8', 'must be an IP address'],
    ['010.0.0.1', 'must be an IP address'],
    ['fe80::1%eth0', 'must be an IP address'],
    ['example.net', 'must be an IP address'],
    ['', 'must be an IP address'],
    ['0.0.0.0/24', 'must be a public address, not a unspecified one'],
    ['224.0.0.1', 'must be a public address, not a multicast one'],
    ['255.255.255.255', 'must be a public address, not a broadcast one'],
    ['192.168.1.1', `must be a public address; this one is private. ${HOW}`],
    ['127.0.0.1', `must be a public address; this one is loopback. ${HOW}`],
    ['100.64.1.1', `must be a public address; this one is carrierGradeNat. ${HOW}`],
    ['fd00::1', `must be a public address; this one is uniqueLocal. ${HOW}`],
    ['::ffff:10.0.0.1', `must be a public address; this one is private. ${HOW}`],
  ])('%s is refused', (given, reason) => {
    expect(refusal(() => normaliseSource(given, { allowPrivate: false }))).toEqual({ allow_from: [reason] });
  });

  it('may be private if the configuration allows it, but never empty or everything', () => {
    expect(normaliseSource('127.0.0.1', { allowPrivate: true })).toBe('127.0.0.1/32');
    expect(normaliseSource('10.1.2.3/24', { allowPrivate: true })).toBe('10.1.2.0/24');
    expect(refusal(() => normaliseSource('0.0.0.0', { allowPrivate: true }))).toHaveProperty('allow_from');
  });
});

describe('dst_address', () => {
  it.each([
    ['192.168.88.10', '192.168.88.10'],
    ['127.0.0.1', '127.0.0.1'],
    ['::ffff:10.0.0.1', '10.0.0.1'],
    ['FD00::0001', 'fd00::1'],
  ])('%s is kept as %s', (given, kept) => {
    expect(normaliseDestination(given)).toBe(kept);
  });

  it.each(['router.lan', '0.0.0.0', '224.0.0.5', '255.255.255.255', '10.1', 'fe80::1%2', '::'])('%s is refused', (given) => {
    expect(refusal(() => normaliseDestination(given))).toHaveProperty('dst_address');
  });
});

describe('the check of a source', () => {
  it.each([
    ['203.0.113.0/24', '203.0.113.255', true],
    ['203.0.113.0/24', '203.0.114.0', false],
    ['203.0.113.0/24', '::ffff:203.0.113.9', true],
    ['203.0.113.7/32', '203.0.113.7', true],
    ['203.0.113.7/32', '203.0.113.8', false],
    ['2a00:1450:1::/48', '2a00:1450:1:ffff::9', true],
    ['2a00:1450:1::/48', '2a00:1450:2::9', false],
    ['2a00:1450:1::/48', '203.0.113.7', false],
    ['203.0.113.0/24', '2a00:1450:1::', false],
  ])('%s allows %s: %s', (cidr, address, allowed) => {
    expect(sourceMatcher(cidr)(address)).toBe(allowed);
  });
});

describe('time_to_expire', () => {
  const minute = 60_000;
  it.each([
    [120 * minute, '2 hours from now'],
    [120 * minute - 1, '2 hours from now'],
    [119 * minute, '1 hour from now'],
    [60 * minute, '1 hour from now'],
    [59 * minute, '59 minutes from now'],
    [10 * minute - 5, '10 minutes from now'],
    [minute, '1 minute from now'],
    [59_000, '59 seconds from now'],
    [1, '1 second from now'],
    [0, 'expired'],
    [-5, 'expired'],
    [1440 * minute, '1 day from now'],
  ])('%d ms before the end: %s', (left, words) => {
    expect(timeToExpire(1_000_000 + left, 1_000_000)).toBe(words);
  });
});
