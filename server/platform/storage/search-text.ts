/**
 * How text stands in the search index (migration 37). Each field of a record is written as two start marks, the text in small letters, and
 * an end mark. The index has all parts of three characters of that, so a field's beginning, its end and anything between is found alike.
 */
export const START = '\u0002';
export const END = '\u0003';

/** Longest indexed text of a record: a device at 90 addresses. */
export const MOST_INDEXED_CHARS = 4000;

/** Kinds of records that are indexed, each with its letter in the index. */
export const SEARCH_KINDS = { router: 'r', agent: 'a', site: 's', device: 'd', campaign: 'c' } as const;
export type SearchKind = keyof typeof SEARCH_KINDS;

/** Small letters for A to Z, as `lower` has them on both engines. */
export function lowerAscii(text: string): string {
  return text.replace(/[A-Z]/g, (letter) => letter.toLowerCase());
}

const GRAM_CHARS = 3;

/** Shorter than the parts that the index has: such texts are found at the beginnings of fields only. */
export function isShort(text: string): boolean {
  return Array.from(text).length < GRAM_CHARS;
}

/** The parts of a text in their order, by characters as SQL counts them. */
export function gramsOf(text: string): string[] {
  const characters = Array.from(text);
  return characters.slice(GRAM_CHARS - 1).map((_, index) => characters.slice(index, index + GRAM_CHARS).join(''));
}

const ASCII_HEX = Array.from({ length: 128 }, (_, code) => code.toString(16).padStart(2, '0'));

/** By a table for nearly all characters: a new fleet of 10,000 agents has 15 million of them indexed within a minute. */
function hexOf(character: string): string {
  return ASCII_HEX[character.charCodeAt(0)] ?? Buffer.from(character).toString('hex');
}

/** The {@link gramsOf} a text as SQLite's index has them: words of hexadecimal digits behind the mark of their scope. */
export function wordsOf(scope: string, text: string): string {
  const digits = Array.from(text, hexOf);
  return digits
    .slice(GRAM_CHARS - 1)
    .map((last, index) => `${scope}${digits[index]}${digits[index + 1]}${last}`)
    .join(' ');
}

/** The end of an id, which is random in every id of ours. Two ids may share it, so a match also compares the whole id. */
const MARK_CHARS = 9;

/**
 * Stands before each part of a text in the index, so that each kind of each team has lists of its own: what others have costs nothing.
 */
export function scopeOf(kind: SearchKind, teamId: string): string {
  return `${SEARCH_KINDS[kind]}${teamId.slice(-MARK_CHARS)}`;
}

/** {@link scopeOf} in SQL. */
export function scopeSql(kind: string, teamId: string): string {
  const letters = Object.entries(SEARCH_KINDS).map(([word, letter]) => `when '${word}' then '${letter}'`);
  return `(case ${kind} ${letters.join(' ')} end || substr(${teamId}, length(${teamId}) - ${MARK_CHARS - 1}))`;
}

/** The part of the index with the records of a site. */
export function placeOf(siteId: string): string {
  return siteId.slice(-MARK_CHARS);
}

/** {@link placeOf} in SQL. */
export function placeSql(siteId: string): string {
  return `substr(${siteId}, length(${siteId}) - ${MARK_CHARS - 1})`;
}
