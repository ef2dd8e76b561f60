import { createHash } from 'node:crypto';

/** Characters of a long name that stay readable. */
const SHOWN_CHARS = 100;

/**
 * The file name for a URI-encoded text: the text itself or, if it is longer than `longest`, its beginning and its hash. A text
 * that fits keeps its name.
 */
export function fileNameOf(encoded: string, longest: number): string {
  if (encoded.length <= longest) return encoded;
  return `${encoded.slice(0, SHOWN_CHARS)}~${createHash('sha256').update(encoded).digest('hex')}`;
}
