import { AgentError } from '../core/errors.ts';
import type { Deadline, RouterAdapter, RouterRow } from '../routers/adapter.ts';
import { runCommand } from './run-command.ts';
import { removeFound } from './clean-up.ts';
import type { Target } from './types.ts';

export const NAT = '/ip/firewall/nat';

export interface NatRules {
  /** Port on the router, open for the agent's source address only. */
  natPort: number;
  mark: string;
  source: string;
  target: Target;
}

/** A NAT rule that an agent added. */
export interface MarkedRule {
  id: string;
  mark: string;
  /** Disabled by a user; `invalid` is the router's own flag. */
  disabled: boolean;
  invalid: boolean;
}

/** Static rules with a wanted mark; dynamic rules belong to the router. */
export async function findMarked(router: RouterAdapter, isWanted: (mark: string) => boolean, deadline: Deadline): Promise<MarkedRule[]> {
  const words = ['=.proplist=.id,comment,dynamic,disabled,invalid', '?>comment='];
  const { rows } = await runCommand(router, { path: `${NAT}/print`, words }, deadline);
  const rules = rows.filter((row) => row['dynamic'] !== 'true' && row['.id'] !== undefined).map(toMarkedRule);
  return rules.filter(({ mark }) => isWanted(mark));
}

function toMarkedRule(row: RouterRow): MarkedRule {
  return { id: row['.id']!, mark: row['comment'] ?? '', disabled: row['disabled'] === 'true', invalid: row['invalid'] === 'true' };
}

/** The ports of the router that its NAT rules use now. */
export async function usedPorts(router: RouterAdapter, deadline: Deadline): Promise<(port: number) => boolean> {
  const { rows } = await runCommand(router, { path: `${NAT}/print`, words: ['=.proplist=dst-port', '?dst-port'] }, deadline);
  const used = rows.flatMap((row) => row['dst-port']?.split(',') ?? []).map(portRange);
  return (port) => used.some(([first, last]) => first <= port && port <= last);
}

/** One item of `dst-port`: `8080` or `61000-61010`. Any other text matches no port. */
function portRange(item: string): [first: number, last: number] {
  const [first = NaN, last = first] = item.split('-').map(Number);
  return [first, last];
}

/**
 * Adds the two rules before all others, so that no other accept or masquerade rule matches first. The masquerade rule makes targets
 * answer that have another default gateway.
 * @throws AgentError; the caller must then remove rules that may have been added
 */
export async function addRules(router: RouterAdapter, rules: NatRules, deadline: Deadline): Promise<void> {
  const first = await firstRule(router, deadline);
  const { source, target, mark, natPort } = rules;
  const common = ['=protocol=tcp', `=src-address=${source}`, `=comment=${mark}`];
  await addFirst(
    router,
    first,
    [
      '=chain=dstnat',
      '=action=dst-nat',
      ...common,
      '=dst-address-type=local',
      `=dst-port=${natPort}`,
      `=to-addresses=${target.host}`,
      `=to-ports=${target.port}`,
    ],
    deadline,
  );
  await addFirst(
    router,
    first,
    ['=chain=srcnat', '=action=masquerade', ...common, `=dst-address=${target.host}`, `=dst-port=${target.port}`],
    deadline,
  );
}

async function firstRule(router: RouterAdapter, deadline: Deadline): Promise<string | undefined> {
  const { rows } = await runCommand(router, { path: `${NAT}/print`, words: ['=.proplist=.id,dynamic'] }, deadline);
  return rows.find((row) => row['dynamic'] !== 'true')?.['.id'];
}

/** If the first rule is gone by now, the rule is added at the end of the list. */
async function addFirst(router: RouterAdapter, before: string | undefined, words: string[], deadline: Deadline): Promise<void> {
  if (before !== undefined) {
    try {
      await runCommand(router, { path: `${NAT}/add`, words: [...words, `=place-before=${before}`] }, deadline);
      return;
    } catch (error) {
      if (!(error instanceof AgentError) || error.code !== 'rejected') throw error;
    }
  }
  await runCommand(router, { path: `${NAT}/add`, words }, deadline);
}

export async function removeRules(router: RouterAdapter, mark: string, deadline: Deadline): Promise<void> {
  const isOurs = (comment: string): boolean => comment === mark;
  await removeFound(router, NAT, async () => (await findMarked(router, isOurs, deadline)).map(({ id }) => id), deadline);
}

const CONNECTION = '/ip/firewall/connection';

/** Removes open connections from the connection tracking, because rules only affect new connections. */
export async function cutConnections(router: RouterAdapter, rules: NatRules, deadline: Deadline): Promise<void> {
  await removeFound(router, CONNECTION, () => findConnections(router, rules, deadline), deadline);
}

async function findConnections(router: RouterAdapter, { source, natPort }: NatRules, deadline: Deadline): Promise<string[]> {
  const words = ['=.proplist=.id,src-address,dst-address,dst-port', '?protocol=tcp'];
  const { rows } = await runCommand(router, { path: `${CONNECTION}/print`, words }, deadline);
  const isOurs = (row: RouterRow): boolean =>
    row['src-address']?.split(':')[0] === source && (row['dst-port'] ?? row['dst-address']?.split(':')[1]) === String(natPort);
  return rows.filter(isOurs).flatMap((row) => row['.id'] ?? []);
}

/**
 * RouterOS script source for {@link cutConnections}. No error in it, not even a parse error, ends the surrounding script:
 * connections come and go meanwhile, and only late v7 versions have separate properties for ports.
 */
export function connectionCut({ source, natPort }: NatRules): string {
  const menu = '/ip firewall connection';
  // NAT ports have five digits, so none is a prefix of another.
  const joined = `${menu} find protocol=tcp src-address~"^${source.replaceAll('.', '[.]')}:" dst-address~":${natPort}"`;
  const apart = `[:parse ":return [${menu} find protocol=tcp src-address=${source} dst-port=${natPort}]"]`;
  const removed = `:do { ${menu} remove $signalboxConnection } on-error={}`;
  return [joined, apart].map((found) => `:do { :foreach signalboxConnection in=[${found}] do={ ${removed} } } on-error={}`).join('; ');
}
