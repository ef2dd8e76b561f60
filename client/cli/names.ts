import type { Signalbox } from '../client.ts';
import { UsageError } from './command.ts';

/** Names for ids in tables, and ids for names on the command line. */

/** The largest page of the list of routers: one of the 60 requests a minute for 5,000 routers. */
export const ROUTERS_PAGE = 5000;
/** The largest page of the other lists. */
const PAGE = 1000;

/** Router id to identity. One request per 5,000 routers. */
export async function identities(signalbox: Signalbox, signal: AbortSignal): Promise<ReadonlyMap<string, string>> {
  const query = { limit: ROUTERS_PAGE, fields: ['id' as const, 'identity' as const] };
  const routers = await signalbox.all('listRouters', { query }, { signal });
  return new Map(routers.map(({ id, identity }) => [id, identity]));
}

/** Site id to name. One request per 1,000 sites. */
export async function siteNames(signalbox: Signalbox, signal: AbortSignal): Promise<ReadonlyMap<string, string>> {
  const sites = await signalbox.all('listSites', { query: { limit: PAGE } }, { signal });
  return new Map(sites.map(({ id, name }) => [id, name]));
}

/** The name of an id, or the id itself when it has no name. */
export function nameOf(names: ReadonlyMap<string, string>, id: string | null): string | null {
  return id === null ? null : (names.get(id) ?? id);
}

/**
 * Ids of sites given by id or name, separated by commas; `none`, and `!` in front, stay as they are. Only a name costs a request.
 * @throws UsageError for a name that no site or several sites have
 */
export async function siteIds(signalbox: Signalbox, signal: AbortSignal, text: string): Promise<string[]> {
  return filterIds('site', text, async () => siteNames(signalbox, signal));
}

/** Like {@link siteIds}, for agents. */
export async function agentIds(signalbox: Signalbox, signal: AbortSignal, text: string): Promise<string[]> {
  return filterIds('agent', text, async () => agentNames(signalbox, signal));
}

/** A single site, by id or name. Only a name costs a request. @throws UsageError */
export async function siteId(signalbox: Signalbox, signal: AbortSignal, text: string): Promise<string> {
  return ID.test(text) ? text : idOf('site', text, await siteNames(signalbox, signal));
}

/** A single notification group, by id or name. Only a name costs a request. @throws UsageError */
export async function groupId(signalbox: Signalbox, signal: AbortSignal, text: string): Promise<string> {
  if (ID.test(text)) return text;
  const groups = await signalbox.all('listGroups', { query: { limit: PAGE } }, { signal });
  return idOf('group', text, new Map(groups.map(({ id, name }) => [id, name])));
}

/** A single router, by id or identity. Only an identity costs a request. @throws ProblemError for one that is unknown or not unique */
export async function routerId(signalbox: Signalbox, signal: AbortSignal, text: string): Promise<string> {
  if (ID.test(text)) return text;
  return (await signalbox.call('getRouter', { path: { router_id: text } }, { signal })).data.id;
}

/** A single agent, by id or name. Only a name costs a request. @throws UsageError */
export async function agentId(signalbox: Signalbox, signal: AbortSignal, text: string): Promise<string> {
  return ID.test(text) ? text : idOf('agent', text, await agentNames(signalbox, signal));
}

/** The id behind a name, or the id itself. @throws UsageError for a name that is unknown or not unique */
export function idOf(kind: string, name: string, known: ReadonlyMap<string, string>): string {
  if (known.has(name)) return name;
  const ids = [...known].filter(([, value]) => value === name).map(([id]) => id);
  if (ids.length > 1) throw new UsageError(`several ${kind}s are called ${name}; give one of these ids: ${ids.join(', ')}`);
  if (ids[0] === undefined) throw new UsageError(`no ${kind} is called ${name}`);
  return ids[0];
}

const ID = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;

/** Agent id to name. One request per 1,000 agents. */
async function agentNames(signalbox: Signalbox, signal: AbortSignal): Promise<ReadonlyMap<string, string>> {
  const agents = await signalbox.all('listAgents', { query: { limit: PAGE } }, { signal });
  return new Map(agents.map(({ id, name }) => [id, name]));
}

async function filterIds(kind: string, text: string, readNames: () => Promise<ReadonlyMap<string, string>>): Promise<string[]> {
  const words = text.split(',').map((word) => ({ not: word.startsWith('!') ? '!' : '', name: word.replace(/^!/, '') }));
  const isPlain = ({ name }: { name: string }): boolean => name === 'none' || ID.test(name);
  const known = words.every(isPlain) ? new Map<string, string>() : await readNames();
  return words.map((word) => `${word.not}${isPlain(word) ? word.name : idOf(kind, word.name, known)}`);
}
