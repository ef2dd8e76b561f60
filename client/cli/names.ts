import type { Signalbox } from '../client.ts';

/** Names for the ids in tables. Each function costs one request per 200 records. */

/** Router id to identity. */
export async function identities(signalbox: Signalbox, signal: AbortSignal): Promise<ReadonlyMap<string, string>> {
  const routers = await signalbox.all('listRouters', {}, { signal });
  return new Map(routers.map(({ id, identity }) => [id, identity]));
}

/** Site id to name. */
export async function siteNames(signalbox: Signalbox, signal: AbortSignal): Promise<ReadonlyMap<string, string>> {
  const sites = await signalbox.all('listSites', {}, { signal });
  return new Map(sites.map(({ id, name }) => [id, name]));
}

/** The name of an id, or the id itself when it has no name. */
export function nameOf(names: ReadonlyMap<string, string>, id: string | null): string | null {
  return id === null ? null : (names.get(id) ?? id);
}
