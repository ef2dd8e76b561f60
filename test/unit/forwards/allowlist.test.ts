import { describe, expect, it } from 'vitest';
import { AllowList } from '../../../agent/forward/allowlist.ts';

const usual = ['10.0.0.0/8', '172.16.0.0/12', '192.168.0.0/16', 'fc00::/7'];

describe("the agent's list of destinations", () => {
  it.each([
    [usual, '192.168.88.10', true],
    [usual, '10.255.255.255', true],
    [usual, 'fd12::1', true],
    [usual, '::ffff:192.168.1.1', true],
    [usual, '8.8.8.8', false],
    [usual, '127.0.0.1', false],
    [usual, '::1', false],
    [usual, '169.254.169.254', false],
    [usual, 'router.lan', false],
    [['0.0.0.0/0', '::/0'], '8.8.8.8', true],
    [['0.0.0.0/0', '::/0'], '2a00::1', true],
    // The agent's own machine is not meant by "everything".
    [['0.0.0.0/0', '::/0'], '127.0.0.1', false],
    [['0.0.0.0/0', '::/0'], '::1', false],
    [['0.0.0.0/0'], '::ffff:127.0.0.1', false],
    [['127.0.0.0/8'], '127.0.0.1', true],
    [['::1/128'], '::1', true],
    [['0.0.0.0/0', '::/0'], '0.0.0.0', false],
    [['0.0.0.0/0', '::/0'], '::', false],
    [['0.0.0.0/0'], '224.0.0.1', false],
    [['0.0.0.0/0'], '255.255.255.255', false],
    [[], '192.168.88.10', false],
  ])('%j and %s: %s', (list, address, allowed) => {
    expect(new AllowList(list).refusal(address) === undefined).toBe(allowed);
  });
});
