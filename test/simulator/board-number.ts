import { createHash } from 'node:crypto';

/** Stable per router: the same seed gives the same number, in hex capitals. */
export function boardNumber(seed: string, length: number): string {
  return createHash('sha256').update(seed).digest('hex').toUpperCase().slice(0, length);
}
