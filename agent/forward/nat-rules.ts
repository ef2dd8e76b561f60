import { AgentError } from '../core/errors.ts';
import type { Deadline, RouterAdapter, RouterRow } from '../routers/adapter.ts';
import { runCommand } from './run-command.ts';
import { removeFound } from './clean-up.ts';
import type { Target } from './types.ts';

export const NAT = '/ip/firewall/nat';

export interface NatRules {
  /** On the router, for the agent's source address only. */
  entryPort: number;
  mark: string;
  source: string;
  target: Target;
}

/** A rule of an agent. */
export interface MarkedRule {
  id: string;
  mark: string;
  /** Somebody has switched it off; `invalid` is the router's own verdict. */
  disabled: boolean;
  invalid: boolean;
}

/** Static items of this mark; dynamic ones belong to the router. */
export async function findMarked(router: RouterAdapter, isWanted: (mark: string) => boolean, deadline: Deadline): Promise<MarkedRule[]> {
  const words = ['=.proplist=.id,comment,dynamic,disabled,invalid', '?>comment='];
  const { rows } = await runCommand(router, { path: `${NAT}/print`, words }, deadline);
  const rules = rows.filter((row) => row['dynamic'] !== 'true' && row['.id'] !== undefined).map(toMarkedRule);
  return rules.filter(({ mark }) => isWanted(mark));
}

function toMarkedRule(row: RouterRow): MarkedRule {
  return { id: row['.id']!, mark: row['comment'] ?? '', disabled: row['disabled'] === 'true', invalid: row['invalid'] === 'true' };
}

/** The ports of the router that its rules name now. */
export async function usedPorts(router: RouterAdapter, deadline: Deadline): Promise<(port: number) => boolean> {
  const { rows } = await runCommand(router, { path: `${NAT}/print`, words: ['=.proplist=dst-port', '?dst-port'] }, deadline);
  const used = rows.flatMap((row) => row['dst-port']?.split(',') ?? []).map(portRange);
  return (port) => used.some(([first, last]) => first <= port && port <= last);
}

/** One item of `dst-port`: `8080` or `61000-61010`. What else may stand there one day is taken for no port. */
function portRange(item: string): [first: number, last: number] {
  const [first = NaN, last = first] = item.split('-').map(Number);
  return [first, last];
}

/**
 * Adds the pair of rules, before all others: an accept or masquerade rule of somebody else must not decide first.
 * The second one makes targets answer that have another default gateway.
 * @throws AgentError; then one of them or both may be there, for the caller to remove
 */
export async function addRules(router: RouterAdapter, rules: NatRules, deadline: Deadline): Promise<void> {
  const first = await firstRule(router, deadline);
  const { source, target, mark, entryPort } = rules;
  const common = ['=protocol=tcp', `=src-address=${source}`, `=comment=${mark}`];
  await addFirst(
    router,
    first,
    [
      '=chain=dstnat',
      '=action=dst-nat',
      ...common,
      '=dst-address-type=local',
      `=dst-port=${entryPort}`,
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

/** The rule that was first may be gone by now; the end of the list is better than nothing. */
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

/** Rules only decide about new connections; those that are open have to be forgotten by the connection tracking. */
export async function cutConnections(router: RouterAdapter, rules: NatRules, deadline: Deadline): Promise<void> {
  await removeFound(router, CONNECTION, () => findConnections(router, rules, deadline), deadline);
}

async function findConnections(router: RouterAdapter, { source, entryPort }: NatRules, deadline: Deadline): Promise<string[]> {
  const words = ['=.proplist=.id,src-address,dst-address,dst-port', '?protocol=tcp'];
  const { rows } = await runCommand(router, { path: `${CONNECTION}/print`, words }, deadline);
  const isOurs = (row: RouterRow): boolean =>
    row['src-address']?.split(':')[0] === source && (row['dst-port'] ?? row['dst-address']?.split(':')[1]) === String(entryPort);
  return rows.filter(isOurs).flatMap((row) => row['.id'] ?? []);
}

/**
 * Source in the router's language that does the same as {@link cutConnections}. No error ends the script that it is part of,
 * not even one of parsing: connections come and go while they are removed, and only late v7 tells ports apart from addresses.
 */
export function connectionCut({ source, entryPort }: NatRules): string {
  const menu = '/ip firewall connection';
  // Entry ports have five digits, so that none is the beginning of another one.
  const joined = `${menu} find protocol=tcp src-address~"^${source.replaceAll('.', '[.]')}:" dst-address~":${entryPort}"`;
  const apart = `[:parse ":return [${menu} find protocol=tcp src-address=${source} dst-port=${entryPort}]"]`;
  const removed = `:do { ${menu} remove $signalboxConnection } on-error={}`;
  return [joined, apart].map((found) => `:do { :foreach signalboxConnection in=[${found}] do={ ${removed} } } on-error={}`).join('; ');
}
