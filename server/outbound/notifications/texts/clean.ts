/**
 * Makes text that routers and users choose harmless in a sentence of ours: one line, nothing invisible, nothing that a mail program or a
 * chat turns into a link or a mention. Each channel escapes the result for its own format. Pure.
 */

/** Names are longer than this only to disturb. */
export const MAX_NAME_CHARS = 60;
/** A fault's detail: the rest is in the console. */
export const MAX_DETAIL_CHARS = 200;

/** Line breaks in any spelling, and tabs. */
const BREAKS = /[\t\n\v\f\r\u0085\u2028\u2029]+/g;
/**
 * Control characters, everything that formats without being seen (direction marks, zero-width characters, tags), characters of private
 * use, and fillers that look like nothing.
 */
const INVISIBLE = /[\p{Cc}\p{Cf}\p{Co}\p{Cn}\p{Default_Ignorable_Code_Point}\u2800]/gu;
const SPACES = /[\s\p{Zs}]+/gu;
/** Marks stacked on one letter reach into the lines above and below. No language needs more than four. */
const STACKED_MARKS = /(\p{M}{4})\p{M}+/gu;

/** Ends of names that lead to no public address: they may stay as they are, so that they can be copied. RFC 6762, 8375, 2606 and ICANN. */
const PRIVATE_ENDS = new Set([
  'lan',
  'local',
  'internal',
  'localdomain',
  'localhost',
  'home',
  'corp',
  'intranet',
  'arpa',
  'test',
  'invalid',
]);
/** Names joined by dots, also by the full-width ones that browsers take for dots. */
const DOTTED = /[\p{L}\p{N}_-]+(?:[.\u3002\uFF0E\uFF61][\p{L}\p{N}_-]+)+/gu;
const DOT = /[.\u3002\uFF0E\uFF61]/gu;
/** Between two characters it cannot be seen, and no program sees a link across it. */
const JOINER = '\u2060';

/** A name of a record. Never empty. */
export function cleanName(name: string): string {
  return clean(name, MAX_NAME_CHARS) || '?';
}

/** A sentence that is not ours. May be empty. */
export function cleanDetail(detail: string): string {
  return clean(detail, MAX_DETAIL_CHARS);
}

/** @param max in UTF-16 units, before links are broken up */
function clean(text: string, max: number): string {
  const line = text
    .slice(0, max * 4)
    .toWellFormed()
    .normalize('NFC')
    .replace(BREAKS, ' ')
    .replace(INVISIBLE, '')
    .replace(STACKED_MARKS, '$1')
    .replace(SPACES, ' ')
    .trim();
  return withoutLinks(cutText(line, max));
}

/** At most `max` UTF-16 units, with an ellipsis when something is missing; no letter is cut in half. */
export function cutText(text: string, max: number): string {
  if (text.length <= max) return text;
  return `${text
    .slice(0, max - 1)
    .replace(/[\uD800-\uDBFF]$/, '')
    .trimEnd()}…`;
}

/**
 * Puts a word joiner where a program would begin to see a link, an address or a mention. Numeric addresses and private names stay as
 * they are: they are what a network engineer copies.
 */
function withoutLinks(line: string): string {
  return line
    .replace(/:(?=\/\/)/g, `:${JOINER}`)
    .replace(/@(?=[\p{L}\p{N}_])/gu, `@${JOINER}`)
    .replace(/\b(mailto|tel|sms|javascript|data):(?=\S)/gi, `$1:${JOINER}`)
    .replace(DOTTED, (name) => {
      const last = name.split(DOT).at(-1)!.toLowerCase();
      return /^\p{N}+$/u.test(last) || PRIVATE_ENDS.has(last) ? name : name.replace(DOT, (dot) => `${dot}${JOINER}`);
    });
}
