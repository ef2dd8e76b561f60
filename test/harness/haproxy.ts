import { existsSync } from 'node:fs';

/** Debian's haproxy is installed. */
export function hasHaproxy(): boolean {
  return existsSync('/usr/sbin/haproxy');
}
