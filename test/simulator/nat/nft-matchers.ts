/** The matchers of firewall rules in nft's words. */
import { parseAddress, parsePorts, parsePrefix } from '../addresses.ts';
import type { Item } from '../menu/table.ts';
import { NOT_MATCHERS } from '../rules.ts';
import type { RouterState } from '../state.ts';

/** `always` and `never` need no words: a list without members matches nothing, its negation everything. */
type Translated = { words: string } | 'always' | 'never';

type Matcher = (value: string, negated: boolean, router: RouterState) => Translated;

const PROTOCOLS: Readonly<Record<string, number>> = {
  icmp: 1,
  igmp: 2,
  ipip: 4,
  tcp: 6,
  udp: 17,
  gre: 47,
  'ipsec-esp': 50,
  'ipsec-ah': 51,
  icmpv6: 58,
  ospf: 89,
  l2tp: 115,
  sctp: 132,
  'udp-lite': 136,
};
const LONGEST_INTERFACE = 15;

function anyOf(key: string, values: readonly string[], negated: boolean): Translated {
  if (values.length === 0) return negated ? 'always' : 'never';
  return { words: `${key} ${negated ? '!= ' : ''}{ ${values.join(', ')} }` };
}

function protocol(value: string, negated: boolean): Translated {
  const number = PROTOCOLS[value] ?? Number(value);
  return Number.isInteger(number) ? { words: `meta l4proto ${negated ? '!= ' : ''}${number}` } : 'never';
}

/** `a`, `a/n` or `a-b`; undefined for what the kernel would not take. */
export function nftAddresses(text: string): string | undefined {
  const [from = '', to] = text.split('-');
  if (to !== undefined) return parseAddress(from) && parseAddress(to) ? text : undefined;
  return parsePrefix(text) ? text : undefined;
}

const address =
  (key: string): Matcher =>
  (value, negated) => {
    const known = nftAddresses(value);
    return known === undefined ? 'never' : anyOf(key, [known], negated);
  };

const ports =
  (key: string): Matcher =>
  (value, negated) => {
    const ranges = parsePorts(value)?.ranges ?? [];
    return ranges.length === 0
      ? 'never'
      : anyOf(
          key,
          ranges.map(([low, high]) => (low === high ? String(low) : `${low}-${high}`)),
          negated,
        );
  };

/** Interfaces of the namespace are called as the router calls its own. */
function interfaceNames(names: readonly string[]): string[] {
  return names.filter((name) => name.length <= LONGEST_INTERFACE && !/["\\*\s/]/.test(name)).map((name) => `"${name}"`);
}

const inInterface =
  (key: string): Matcher =>
  (value, negated) =>
    anyOf(key, interfaceNames([value]), negated);

const inList =
  (key: string): Matcher =>
  (list, negated, router) => {
    if (list === 'all') return negated ? 'never' : 'always';
    const members = router.table('/interface/list/member').items;
    const names = members
      .filter(({ values }) => values.get('list') === list && values.get('disabled') !== 'true')
      .map(({ values }) => values.get('interface') ?? '');
    return anyOf(key, interfaceNames(names), negated);
  };

const inAddressList =
  (key: string): Matcher =>
  (list, negated, router) => {
    const entries = router.table('/ip/firewall/address-list').items;
    const listed = entries.filter(({ values }) => values.get('list') === list && values.get('disabled') !== 'true');
    return anyOf(
      key,
      listed.flatMap(({ values }) => nftAddresses(values.get('address') ?? '') ?? []),
      negated,
    );
  };

const ofType =
  (key: string): Matcher =>
  (value, negated) =>
    /^(?:local|unicast|broadcast|multicast)$/.test(value) ? { words: `${key} ${negated ? '!= ' : ''}${value}` } : 'never';

function connectionState(value: string, negated: boolean): Translated {
  const known = value.split(',').filter((state) => /^(?:established|related|untracked|invalid|new)$/.test(state));
  return anyOf('ct state', known, negated);
}

function natState(value: string, negated: boolean): Translated {
  const flag = { dstnat: 'dnat', srcnat: 'snat' }[value];
  return flag === undefined ? 'never' : { words: `ct status & ${flag} ${negated ? '!=' : '=='} ${flag}` };
}

const MATCHERS: Readonly<Record<string, Matcher>> = {
  protocol,
  'src-address': address('ip saddr'),
  'dst-address': address('ip daddr'),
  'src-port': ports('th sport'),
  'dst-port': ports('th dport'),
  'in-interface': inInterface('iifname'),
  'out-interface': inInterface('oifname'),
  'in-interface-list': inList('iifname'),
  'out-interface-list': inList('oifname'),
  'src-address-list': inAddressList('ip saddr'),
  'dst-address-list': inAddressList('ip daddr'),
  'src-address-type': ofType('fib saddr type'),
  'dst-address-type': ofType('fib daddr type'),
  'connection-state': connectionState,
  'connection-nat-state': natState,
};

/** What a packet must be like for the rule, in nft's words; undefined for a rule that matches none. */
export function nftMatch(router: RouterState, rule: Item): string | undefined {
  const words: string[] = [];
  // The protocol comes first: ports mean nothing before it is known.
  const matchers = [...rule.values]
    .filter(([name]) => !NOT_MATCHERS.has(name))
    .sort(([a], [b]) => Number(b === 'protocol') - Number(a === 'protocol'));
  for (const [name, value] of matchers) {
    const translated = MATCHERS[name]?.(value.replace(/^!/, ''), value.startsWith('!'), router) ?? 'never';
    if (translated === 'never') return undefined;
    if (translated !== 'always') words.push(translated.words);
  }
  return words.join(' ');
}
