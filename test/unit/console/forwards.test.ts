import { describe, expect, it } from 'vitest';
import type { Router, TransientForward } from '../../../client/index.ts';
import { EMPTY_FORWARD, forwardOf, ownAddressOf, targetOf } from '../../../console/src/pages/work/forwards/forward-form.ts';
import { forwardsFilter } from '../../../console/src/pages/work/forwards/filter.ts';
import { allowLines, readyLines, stateOfForward, whyWords } from '../../../console/src/pages/work/forwards/words.ts';

const NOW = Date.parse('2031-05-01T08:30:00Z');

const forward = (change: Partial<TransientForward> = {}): TransientForward => ({
  id: 'f',
  port: 20_417,
  revoked_early: false,
  allow_only_cidr: '203.0.113.7/32',
  authorized_at: '2031-05-01T08:00:00.000Z',
  expires_at: '2031-05-01T09:30:00.000Z',
  expired: false,
  entry_point: 'signalbox.example.net',
  dst_address: '192.168.88.10',
  dst_port: 22,
  time_to_expire: '1 hour from now',
  router_id: 'r',
  created_at: '2031-05-01T08:00:00.000Z',
  closed_at: null,
  way: 'ssh',
  way_reason: null,
  target_reachable: true,
  refused: false,
  refused_attempts: 0,
  open_connections: 0,
  connection_count: 0,
  bytes_in: 0,
  bytes_out: 0,
  idle_seconds: null,
  max_connections: 512,
  ...change,
});

describe('a forward', () => {
  it.each<[string, Partial<TransientForward>, string]>([
    ['open', {}, 'done open'],
    ['open to a target that does not answer', { target_reachable: false }, 'failed open'],
    ['not open yet', { authorized_at: null }, 'waiting not open yet'],
    ['refused by its agent', { refused: true, authorized_at: null }, 'failed refused'],
    ['over', { expires_at: '2031-05-01T08:29:59.000Z' }, 'canceled ended'],
    ['closed by hand', { closed_at: '2031-05-01T08:10:00.000Z', revoked_early: true }, 'canceled ended'],
  ])('that is %s says so', (_what, change, said) => {
    const { work, word } = stateOfForward(forward(change), NOW);
    expect(`${work} ${word}`).toBe(said);
  });

  const linesOf = (change: Partial<TransientForward>, router = 'gw-1'): string[] =>
    readyLines(forward(change), router).map(({ line }) => line);

  it('has lines to copy for the program behind its port', () => {
    expect(linesOf({})).toEqual([
      'signalbox.example.net:20417',
      'ssh -p 20417 USER@signalbox.example.net',
      'signalbox forward --router gw-1 --to 192.168.88.10:22 --listen 127.0.0.1:10022',
    ]);
    expect(linesOf({ dst_port: 5432 })[1]).toBe('psql "host=signalbox.example.net port=20417 user=USER dbname=DATABASE"');
    expect(linesOf({ dst_port: 8291 })[1]).toBe('signalbox.example.net:20417');
    expect(linesOf({ dst_port: 2222 })[1]).toBe('ssh -p 20417 USER@signalbox.example.net');
    expect(linesOf({ dst_port: 443, entry_name: 'f.example.net', entry_name_port: 8443 })).toContain('https://f.example.net:8443/');
  });

  it('that an agent refuses has lines that let it lead there', () => {
    expect(allowLines('127.0.0.1')).toBe("forwards:\n  allow: [10.0.0.0/8, 172.16.0.0/12, 192.168.0.0/16, 'fc00::/7', 127.0.0.1/32]");
    expect(allowLines('2001:db8::1')).toContain("'2001:db8::1/128'");
  });

  it('says why its way was chosen, and keeps what else the agent says', () => {
    expect(whyWords('the router forwards over SSH; direct: refused')).toBe(
      'the router has SSH, which needs no firewall rule. The agent sets /ip ssh forwarding-enabled=local for as long as a forward needs it; direct: refused',
    );
    expect(whyWords('no port is free')).toBe('no port is free');
  });

  it('quotes what a shell would read', () => {
    expect(linesOf({}, "o'hara; reboot").at(-1)).toContain(String.raw`--router 'o'\''hara; reboot' --to`);
    expect(linesOf({ dst_address: '2001:db8::1' }).at(-1)).toContain('--to [2001:db8::1]:22');
  });
});

describe('the form of a forward', () => {
  it('begins with a target of the address', () => {
    expect(targetOf('192.0.2.1:22')).toEqual({ address: '192.0.2.1', port: '22' });
    expect(targetOf('[2001:db8::1]:443')).toEqual({ address: '2001:db8::1', port: '443' });
    expect(targetOf('nonsense')).toEqual({});
    expect(targetOf(undefined)).toEqual({});
  });

  it.each([
    ['192.168.88.1', '192.168.88.1'],
    ['2001:db8::1', '2001:db8::1'],
    ['gw.example.net', undefined],
    ['cafe', undefined],
    [undefined, undefined],
  ])('knows of a router at %s the address %s', (from, address) => {
    expect(ownAddressOf(from)).toBe(address);
  });

  it('sends what is no port as it is, so that the server names the field', () => {
    expect(forwardOf({ ...EMPTY_FORWARD, address: ' 192.0.2.1 ', port: 'ssh' }, '203.0.113.7')).toEqual({
      dst_address: '192.0.2.1',
      dst_port: 'ssh',
      allow_from: '203.0.113.7',
      expire_after_minutes: 60,
    });
  });
});

describe('the filter of forwards', () => {
  const named = (id: string, identity: string): Router => ({ id, identity }) as Router;
  const routers = [named('1', 'core-1'), named('2', 'core-2'), named('3', 'Main street 7'), named('4', 'lab, old')];

  it.each([
    'Main street 7',
    'main STREET 7',
    '"Main street 7"',
    'router:"Main street 7"',
    'router:Main street 7',
    'Main status:open street 7',
  ])('finds a router whose name has spaces by %s', (q) => {
    expect(forwardsFilter({ q }, routers)).toEqual({ query: { status: 'open', router_id: '3' } });
  });

  it('finds a router whose name has a comma', () => {
    expect(forwardsFilter({ q: 'lab, old' }, routers).query.router_id).toBe('4');
  });

  it('shows open ones unless it says otherwise', () => {
    expect(forwardsFilter({}, routers)).toEqual({ query: { status: 'open' } });
    expect(forwardsFilter({ q: 'status:closed core-2' }, routers)).toEqual({ query: { status: 'closed', router_id: '2' } });
    expect(forwardsFilter({ q: 'status:all', router: '1' }, routers)).toEqual({ query: { router_id: '1' } });
  });

  it('says what it cannot read', () => {
    expect(forwardsFilter({ q: 'gone' }, routers).wrong).toContain('gone');
    expect(forwardsFilter({ q: 'core-1 core-2' }, routers).wrong).toContain('one router');
    expect(forwardsFilter({ q: '-status:open' }, routers).wrong).toContain('minus sign');
    expect(forwardsFilter({ q: 'core-1', router: '2' }, routers).wrong).toContain('one router');
    expect(forwardsFilter({ q: 'status:lost' }, routers).wrong).toContain('open, closed or all');
  });
});
