import { domainToASCII } from 'node:url';

/** RFC 5321 section 4.5.3.1. */
const MAX_LOCAL_CHARS = 64;
const MAX_ADDRESS_CHARS = 254;
/** A dot-atom of RFC 5322: no quotes, no spaces, no comments, so that no program can read more than one address in it. */
const LOCAL = /^[A-Za-z0-9!#$%&'*+/=?^_`{|}~-]+(?:\.[A-Za-z0-9!#$%&'*+/=?^_`{|}~-]+)*$/;
const DOMAIN = /^(?=.{4,253}$)(?:[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?\.)+[a-z][a-z0-9-]{0,61}[a-z0-9]$/;

/**
 * An address as mail servers take it, with its domain in lower case ASCII; undefined for anything else: display names, groups, quoted
 * local parts, several addresses, domains without a dot.
 */
export function readEmailAddress(text: string): string | undefined {
  const at = text.lastIndexOf('@');
  const local = text.slice(0, Math.max(at, 0));
  const domain = domainToASCII(text.slice(at + 1)).toLowerCase();
  if (local.length > MAX_LOCAL_CHARS || !LOCAL.test(local) || !DOMAIN.test(domain)) return undefined;
  const address = `${local}@${domain}`;
  return address.length <= MAX_ADDRESS_CHARS ? address : undefined;
}
