import type { EnrolToken } from '../../../../../client/browser.ts';

type Seen = Pick<EnrolToken, 'id' | 'created_at' | 'status' | 'used_at'>;

/**
 * The token by which the new agent comes: the one that was made on the page, unless an agent has come with a later one. The lines for a container
 * on RouterOS are made by the command line, with a token of their own.
 */
export function followedToken<T extends Seen>(tokens: readonly T[], ownId: string): T | undefined {
  const own = tokens.find(({ id }) => id === ownId);
  if (own === undefined || own.status === 'used') return own;
  const later = tokens.filter(({ status, created_at: at }) => status === 'used' && at > own.created_at);
  // The first that came stays the one that is followed.
  return later.sort((one, other) => ((one.used_at ?? '') < (other.used_at ?? '') ? -1 : 1))[0] ?? own;
}
