import { hashSecret } from '../../../platform/core/ids.ts';

/** Names of buckets. Pure. */

/** Enough to tell the addresses of one server apart. */
const ACCOUNT_CHARS = 12;

/** One of several accounts on a server: what a provider asks of one does not hold up the others. @param secret tells them apart, and is not in it */
export function accountOn(server: string, secret: string): string {
  return `${server}#${hashSecret(secret).slice(0, ACCOUNT_CHARS)}`;
}

/** The part of a bucket that its neighbours on the server share. */
export function serverOf(bucket: string): string {
  const end = bucket.lastIndexOf('#');
  return end < 0 ? bucket : bucket.slice(0, end);
}
