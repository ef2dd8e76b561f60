import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { compileQuery } from '../../simulator/api/query.ts';
import { readRequest } from '../../simulator/api/request.ts';

const rows = [
  { '.id': '*1', name: 'ether1', type: 'ether', mtu: '1500', disabled: 'false', comment: 'uplink', address: '10.0.0.9', uptime: '1h' },
  { '.id': '*2', name: 'vlan7', type: 'vlan', mtu: '900', disabled: 'true', address: '10.0.0.10', uptime: '59m' },
  { '.id': '*3', name: 'bridge', type: 'bridge', mtu: '1500', disabled: 'false', time: '2026-05-31 10:00:00' },
].map((row) => new Map(Object.entries(row)));

const chosen = (...words: string[]): string[] => rows.filter(compileQuery(words)).map((row) => row.get('name') ?? '');

describe('query words', () => {
  it.each<[string, string[], string[]]>([
    ['no words: everything', [], ['ether1', 'vlan7', 'bridge']],
    ['has a value', ['?comment'], ['ether1']],
    ['has none', ['?-comment'], ['vlan7', 'bridge']],
    ['equals', ['?type=ether'], ['ether1']],
    ['equals, written with ?=', ['?=type=ether'], ['ether1']],
    ['by id', ['?.id=*2'], ['vlan7']],
    ['yes means true', ['?disabled=yes'], ['vlan7']],
    ['less, as numbers', ['?<mtu=1000'], ['vlan7']],
    ['greater, as numbers', ['?>mtu=1000'], ['ether1', 'bridge']],
    ['strictly', ['?>mtu=1500'], []],
    ['greater, as addresses', ['?>address=10.0.0.9'], ['vlan7']],
    ['less, as durations', ['?<uptime=1h'], ['vlan7']],
    ['dates compare as printed', ['?>time=2026-05-31 00:00:00'], ['bridge']],
    ['a comment that is not empty', ['?>comment='], ['ether1']],
    ['two words are both needed', ['?mtu=1500', '?type=bridge'], ['bridge']],
    ['or', ['?type=ether', '?type=vlan', '?#|'], ['ether1', 'vlan7']],
    ['and', ['?mtu=1500', '?type=ether', '?#&'], ['ether1']],
    ['not', ['?type=ether', '?#!'], ['vlan7', 'bridge']],
    ['or of two, and a third', ['?type=ether', '?type=bridge', '?#|', '?comment'], ['ether1']],
    ['several operators in one word', ['?type=ether', '?type=vlan', '?#|!'], ['bridge']],
    ['index and point push a copy: a xor b', ['?mtu=1500', '?type=ether', '?#0.|'], ['ether1']],
    ['a point alone copies the top', ['?type=ether', '?#.&'], ['ether1']],
    ['an index at the end replaces the whole stack', ['?type=ether', '?type=vlan', '?#0'], ['vlan7']],
    ['the deeper one of two', ['?type=ether', '?type=vlan', '?#1'], ['ether1']],
    ['below the bottom everything is true', ['?#0'], ['ether1', 'vlan7', 'bridge']],
    ['not of the bottom is false', ['?#!'], []],
  ])('%s', (_name, words, names) => {
    expect(chosen(...words)).toEqual(names);
  });

  it('de Morgan holds for any two tests', () => {
    const test = fc.constantFrom('?type=ether', '?comment', '?disabled=true', '?>mtu=1000', '?-address');
    fc.assert(
      fc.property(test, test, (a, b) => {
        expect(chosen(a, b, '?#&!')).toEqual(chosen(a, '?#!', b, '?#!', '?#|'));
      }),
    );
  });
});

describe('a request', () => {
  it('splits attributes on their second equals sign and keeps API attributes apart', () => {
    const request = readRequest([
      '/ip/address/print',
      '=comment=a=b',
      '=detail=',
      '=flag',
      '=.proplist=address,network',
      '.tag=7',
      '?disabled=no',
    ]);
    expect(request).toMatchObject({ path: '/ip/address', command: 'print', tag: '7', proplist: ['address', 'network'] });
    expect([...request.attributes]).toEqual([
      ['comment', 'a=b'],
      ['detail', ''],
      ['flag', ''],
    ]);
  });

  it('has no tag when the tag is empty', () => {
    expect(readRequest(['/x/print', '.tag=']).tag).toBeUndefined();
  });
});
