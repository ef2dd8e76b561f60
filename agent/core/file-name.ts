import { createHash } from 'node:crypto';

/** As much of a long name as helps people who look into the folder. */
const SHOWN_CHARS = 100;

/**
 * The name of a file for a text that is encoded as part of an address: the text itself, or, where it is longer than `longest`, its
 * beginning and its hash. Nothing that has fitted gets another name.
 */
export function fileNameOf(encoded: string, longest: number): string {
  if (encoded.length <= longest) return encoded;
  return `${encoded.slice(0, SHOWN_CHARS)}~${createHash('sha256').update(encoded).digest('hex')}`;
}
