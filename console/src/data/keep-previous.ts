import { hashKey } from '@tanstack/react-query';
import type { QueryKey } from '@tanstack/react-query';

/**
 * Placeholder data that stay while a filter or a time changes, but never from one owner to the next: rows of one router under the name of
 * another would be believed.
 * @param key the query's key
 * @param ownerOf the part of a key that says whose data they are
 */
export function keepPrevious(key: QueryKey, ownerOf: (key: QueryKey) => unknown) {
  return <T>(data: T | undefined, before: { queryKey: QueryKey } | undefined): T | undefined =>
    before !== undefined && hashKey([ownerOf(before.queryKey)]) === hashKey([ownerOf(key)]) ? data : undefined;
}

/** Of keys such as `['health', ROUTER, SPAN]`. */
export const secondPart = (key: QueryKey): unknown => key[1];

/** Of keys such as `['jobs', 'listJobs', INPUT]`: what the path names, and a router that a list of all is asked for. */
export function ownerOfList([, , input]: QueryKey): unknown {
  const { path, query } = input as { path?: unknown; query?: { router_id?: unknown } };
  return [path, query?.router_id];
}
