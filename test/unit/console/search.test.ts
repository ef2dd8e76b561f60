import { compareVersions } from '../../../console/src/pages/fleet/routers/versions.ts';
import { describe, expect, it } from 'vitest';
import type { Router } from '../../../client/index.ts';
import { withoutWord } from '../../../console/src/parts/filter-words.ts';
import { filterOf, inOrder, readSearch, sayWord, wordFor, wordForSite, wordsOf } from '../../../console/src/pages/fleet/routers/search.ts';

function router(identity: string, change: Partial<Router> = {}): Router {
  return {
    id: identity,
    identity,
    serial_number: `SN-${identity}`,
    software_version: '7.18.2',
    software_id: null,
    has_pulse: true,
    uptime: null,
    last_seen: '1 second ago',
    last_seen_from: '10.0.0.1',
    hardware_board: true,
    model: 'RB5009UG+S+IN',
    board_name: 'RB5009',
    last_seen_at: null,
    created_at: '2031-01-01T00:00:00.000Z',
    site_id: null,
    agent_id: 'agent',
    removed_at: null,
    state: 'answering',
    state_since: '2031-05-01T08:00:00.000Z',
    state_reason: null,
    agent_name: 'hq',
    terminal_levels: null,
    ...change,
  };
}

const FLEET = [
  router('core-1', { site_id: 'site-1' }),
  router('core-2', { state: 'agent_away', agent_name: 'depot', software_version: '7.16' }),
  router('edge-10', { state: 'not_answering', model: 'hAP ax3', state_since: '2031-05-01T07:00:00.000Z', software_version: '7.16.2' }),
  router('edge-9', { state: 'never_seen', model: null, board_name: 'CHR', state_since: null, software_version: '6.49.18' }),
];

const SITES = new Map([['site-1', 'Main street']]);

describe('the filter of routers', () => {
  it.each([
    ['', ['core-1', 'core-2', 'edge-10', 'edge-9']],
    ['core', ['core-1', 'core-2']],
    ['CORE sn-core-2', ['core-2']],
    ['-core', ['edge-10', 'edge-9']],
    ['state:away', ['core-2']],
    ['state:agent_away state:not-answering', ['core-2', 'edge-10']],
    ['state:away state:answering depot', ['core-2']],
    ['-state:answering -state:away', ['edge-10', 'edge-9']],
    ['version:7.16', ['core-2', 'edge-10']],
    ['version:7.1', []],
    ['model:hap', ['edge-10']],
    ['agent:HQ', ['core-1', 'edge-10', 'edge-9']],
    ['chr', ['edge-9']],
    ['version:<7.16', ['edge-9']],
    ['version:<=7.16', ['core-2', 'edge-9']],
    ['version:>6.50 version:<7.17', ['core-2', 'edge-10']],
    ['version:=7.16', ['core-2']],
    ['-version:7.16', ['core-1', 'edge-9']],
    ['version:<nonsense', []],
    ['site:"Main street"', ['core-1']],
    ['-site:"main street" -site:none', []],
    ['site:none', ['core-2', 'edge-10', 'edge-9']],
    ['street', ['core-1']],
    ['state: core', ['core-1', 'core-2']],
    ['(*', []],
    ['-', ['core-1', 'core-2', 'edge-10', 'edge-9']],
  ])('%j finds %j', (q, expected) => {
    expect(FLEET.filter(filterOf(q, SITES)).map(({ identity }) => identity)).toEqual(expected);
  });
});

describe('the words of a filter', () => {
  it('are told to people', () => {
    const said = wordsOf('version:<7.19 -site:hq core -lab state:away').map((word) => sayWord(word, SITES));
    expect(said.map(({ subject, said }) => `${subject} ${said}`)).toEqual([
      'RouterOS older than 7.19',
      'site is not hq',
      'text core',
      'text not lab',
      'state away',
    ]);
  });

  it.each(['none', 'NONE', 'The "old" depot', 'hq', 'Main street'])('find the routers of the site %s, and call it by its name', (name) => {
    const sites = new Map([['site-1', name]]);
    const q = wordForSite({ id: 'site-1', name });
    expect(FLEET.filter(filterOf(q, sites)).map(({ identity }) => identity)).toEqual(['core-1']);
    expect(wordsOf(q).map((word) => sayWord(word, sites))).toEqual([{ subject: 'site', said: name }]);
  });

  it('can be taken out one by one', () => {
    const q = 'version:<7.19 -site:"Main  street" core';
    expect(withoutWord(q, wordsOf(q)[1]!)).toBe('version:<7.19 core');
    expect(withoutWord(q, wordsOf(q)[2]!)).toBe('version:<7.19 -site:"Main  street"');
  });

  it('can be taken out where another word holds or repeats them', () => {
    const q = 'core-1 core -core core';
    const left = wordsOf(q).map((word) => withoutWord(q, word));
    expect(left).toEqual(['core -core core', 'core-1 -core core', 'core-1 core core', 'core-1 core -core']);
  });

  it('are quoted when they have spaces, and read back as they were', () => {
    expect(wordsOf(wordFor('site', 'Main street'))).toEqual([
      { text: 'site:"Main street"', at: 0, isNot: false, field: 'site', value: 'Main street' },
    ]);
  });
});

describe('versions', () => {
  it('are counted as RouterOS counts them', () => {
    const inOrder = ['x', '6.49.18', '7.9', '7.15beta2', '7.15beta10', '7.15rc1', '7.15', '7.15.1'];
    expect([...inOrder].reverse().sort(compareVersions)).toEqual(inOrder);
  });
});

describe('the order of routers', () => {
  const identities = (sort: Parameters<typeof inOrder>[1]) => inOrder([...FLEET], sort, SITES).map(({ identity }) => identity);

  it('shows trouble first, the longest first', () => {
    expect(identities('state')).toEqual(['core-2', 'edge-10', 'edge-9', 'core-1']);
  });

  it('counts the numbers in names', () => {
    expect(identities('identity')).toEqual(['core-1', 'core-2', 'edge-9', 'edge-10']);
  });

  it('orders by version as numbers, and equal ones by name', () => {
    expect(identities('version')).toEqual(['edge-9', 'core-2', 'edge-10', 'core-1']);
  });
});

describe('the address of the list', () => {
  it('keeps what it knows and drops what it does not', () => {
    expect(readSearch({ q: 'core', sort: 'since', other: 1 })).toEqual({ q: 'core', sort: 'since' });
    expect(readSearch({ q: 7, sort: 'nonsense' })).toEqual({});
  });
});
