/** The firewall of a simulated router as a ruleset of nftables, as far as it concerns what is forwarded. Pure. */
import type { Item } from '../menu/table.ts';
import type { RouterState } from '../state.ts';
import { nftAddresses, nftMatch } from './nft-matchers.ts';

export const TABLE = 'signalbox_router';
/** How long what is left of a forgotten connection is answered by resets, seconds. */
const CUT_SECONDS = 120;

interface Hook {
  menu: string;
  chain: string;
  /** Where nftables calls it. */
  base: string;
  statement: (rule: Item) => string | undefined;
}

const HOOKS: readonly Hook[] = [
  { menu: '/ip/firewall/nat', chain: 'dstnat', base: 'type nat hook prerouting priority dstnat; policy accept;', statement: natStatement },
  { menu: '/ip/firewall/nat', chain: 'srcnat', base: 'type nat hook postrouting priority srcnat; policy accept;', statement: natStatement },
  {
    menu: '/ip/firewall/filter',
    chain: 'forward',
    base: 'type filter hook forward priority filter; policy accept;',
    statement: filterStatement,
  },
];

/**
 * @param cuts tuples `address . port . address . port` of connections that were forgotten: their packets are answered by
 * a reset, as those of a connection that nobody knows
 */
export function rulesetOf(router: RouterState, cuts: readonly string[]): string {
  return inTable(
    cuts,
    HOOKS.flatMap((hook) => chainsOf(router, hook)),
  );
}

/** A router that is off forwards nothing. */
export function offRuleset(): string {
  return inTable([], ['chain off {', 'type filter hook forward priority filter; policy drop;', '}']);
}

function inTable(cuts: readonly string[], chains: readonly string[]): string {
  const elements = cuts.length === 0 ? '' : ` elements = { ${cuts.join(', ')} };`;
  return [
    // Made first, so that it can be deleted: all of it is one transaction.
    `table ip ${TABLE}`,
    `delete table ip ${TABLE}`,
    `table ip ${TABLE} {`,
    `set cut { type ipv4_addr . inet_service . ipv4_addr . inet_service; flags timeout; timeout ${CUT_SECONDS}s;${elements} }`,
    'chain forgotten {',
    'type filter hook forward priority filter - 1; policy accept;',
    'meta l4proto tcp ct original ip saddr . ct original proto-src . ct original ip daddr . ct original proto-dst @cut reject with tcp reset',
    '}',
    ...chains,
    '}',
    '',
  ].join('\n');
}

/** The chain itself and all that it jumps to; a chain may be reached from two hooks and is then there twice. */
function chainsOf(router: RouterState, { menu, chain, base, statement }: Hook): string[] {
  const rules = router.table(menu).items;
  const names = new Map([[chain, chain]]);
  const lines: string[] = [];
  for (const [from, name] of names) {
    lines.push(`chain ${name} {`, ...(from === chain ? [base] : []));
    for (const rule of rules.filter(({ values }) => values.get('chain') === from && values.get('disabled') !== 'true')) {
      const match = nftMatch(router, rule);
      const verdict = rule.values.get('action') === 'jump' ? jump(rule, names, chain) : statement(rule);
      if (match !== undefined && verdict !== undefined) lines.push(`${match} counter ${verdict} comment "${menu} ${rule.id}"`);
    }
    lines.push('}');
  }
  // Chains that are jumped to have to be there before.
  return bottomUp(lines);
}

/** The map grows while it is walked: that is how the chains that are jumped to get their turn. */
function jump(rule: Item, names: Map<string, string>, chain: string): string {
  const target = rule.values.get('jump-target') ?? '';
  const name = names.get(target) ?? `${chain}_${names.size}`;
  names.set(target, name);
  return `jump ${name}`;
}

function bottomUp(lines: readonly string[]): string[] {
  const chains: string[][] = [];
  for (const line of lines) {
    if (line.startsWith('chain ')) chains.push([]);
    chains.at(-1)?.push(line);
  }
  return chains.reverse().flat();
}

function natStatement({ values }: Item): string | undefined {
  const port = /^\d+(?:-\d+)?$/.test(values.get('to-ports') ?? '') ? values.get('to-ports') : undefined;
  const given = nftAddresses(values.get('to-addresses') ?? '');
  const target = `${given ?? ''}${port === undefined ? '' : `:${port}`}`;
  switch (values.get('action')) {
    case 'dst-nat':
    case 'netmap':
      return given === undefined ? redirect(port) : `dnat to ${target}`;
    case 'redirect':
      return redirect(port);
    case 'masquerade':
      return 'masquerade';
    case 'src-nat':
    case 'same':
      return given === undefined ? undefined : `snat to ${target}`;
    default:
      return plainStatement(values);
  }
}

function redirect(port: string | undefined): string {
  return port === undefined ? 'redirect' : `redirect to :${port}`;
}

function filterStatement({ values }: Item): string | undefined {
  switch (values.get('action')) {
    case 'fasttrack-connection':
      return 'accept';
    case 'drop':
    case 'tarpit':
      return 'drop';
    case 'reject':
      return values.get('reject-with') === 'tcp-reset' ? 'reject with tcp reset' : 'reject with icmp net-unreachable';
    default:
      return plainStatement(values);
  }
}

/** Actions that mean the same everywhere; logging rules pass the packet on. */
function plainStatement(values: ReadonlyMap<string, string>): string {
  const action = values.get('action') ?? 'accept';
  return action === 'accept' || action === 'return' ? action : '';
}
