import { describe, expect, it } from 'vitest';
import { AllowList } from '../../../agent/forward/allowlist.ts';
import { OwnAddresses, interfaceAddresses, localRoutes, readOwnAddresses } from '../../../agent/forward/own-addresses.ts';

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

describe("addresses of the agent's own machine", () => {
  const own = ['192.168.88.5', '172.17.0.1', 'fd12::5', 'fe80::1%eth0', '10.77.0.0/16'];

  it.each([
    [usual, '192.168.88.5', false],
    [usual, '::ffff:192.168.88.5', false],
    [usual, '172.17.0.1', false],
    [usual, 'fd12::5', false],
    [usual, 'fd12:0:0:0:0:0:0:5', false],
    [usual, '10.77.3.9', false],
    [usual, '192.168.88.6', true],
    [usual, 'fd12::6', true],
    [['fe80::/10'], 'fe80::1', false],
    [['0.0.0.0/0', '::/0'], '192.168.88.5', false],
    [['192.168.88.0/24'], '192.168.88.5', false],
    // Listed by itself: the operator means this machine.
    [[...usual, '192.168.88.5/32'], '192.168.88.5', true],
    [[...usual, '192.168.88.5/32'], '172.17.0.1', false],
    [['fd12::5/128'], 'fd12::5', true],
    [['127.0.0.0/8'], '127.0.0.1', true],
  ])('%j and %s: %s', (list, address, allowed) => {
    expect(new AllowList(list, new OwnAddresses(() => own)).refusal(address) === undefined).toBe(allowed);
  });

  it('count from a second after the interface got them, and no longer than that after it lost them', () => {
    let now = 0;
    let addresses: string[] = [];
    const list = new AllowList(
      usual,
      new OwnAddresses(
        () => addresses,
        () => now,
      ),
    );
    expect(list.refusal('192.168.88.5')).toBeUndefined();
    addresses = ['192.168.88.5'];
    now = 1000;
    expect(list.refusal('192.168.88.5')).toContain("agent's own machine");
    addresses = [];
    now = 2000;
    expect(list.refusal('192.168.88.5')).toBeUndefined();
  });

  it('are read from the interfaces and from the kernel', () => {
    expect(readOwnAddresses()).toContain('127.0.0.1');
    const trie =
      'Main:\n     +-- 0.0.0.0/0 3 0 5\n        |-- 172.17.0.0\n           /16 link UNICAST\n        |-- 172.17.0.1\n           /32 host LOCAL\n        |-- 10.77.0.0\n           /16 link UNICAST\n           /16 host LOCAL\n';
    expect(localRoutes(trie)).toEqual(['172.17.0.1/32', '10.77.0.0/16']);
    const table = 'fe8000000000000000fc00fffe000001 04 40 20 80     eth0\n';
    expect(interfaceAddresses(table)).toEqual(['fe80:0000:0000:0000:00fc:00ff:fe00:0001']);
  });
});
