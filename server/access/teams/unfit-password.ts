import { COMMON_MIXTURES, COMMON_PASSWORDS } from './common-passwords.ts';

/** NIST SP 800-63B: at least 8 characters; the upper limit bounds the cost of hashing. */
const SHORTEST_PASSWORD = 8;
export const LONGEST_PASSWORD = 256;

/** Keys and letters that stand beside each other, also of German and French keyboards, with shift, and from top to bottom. */
const ROWS = (
  'abcdefghijklmnopqrstuvwxyz 01234567890 !@#$%^&*()_+ qwertyuiop asdfghjkl; zxcvbnm qwertzuiop yxcvbnm azertyuiop qsdfghjklm wxcvbn ' +
  '1qaz 2wsx 3edc 4rfv 5tgb 6yhn 7ujm'
)
  .split(' ')
  .flatMap((row) => [row, Array.from(row).toReversed().join('')]);
/** In words, neighbours follow each other for one or two letters; in a password of rows, for three and more. */
const SHORTEST_RUN = 3;

const LETTERS: Readonly<Record<string, string>> = { 0: 'o', 1: 'i', 3: 'e', 4: 'a', 5: 's', 7: 't', '@': 'a', $: 's', '!': 'i' };
/** Names that are shorter are parts of too many words. */
const SHORTEST_NAME = 3;

/** Why nobody may have this password, by its length alone; undefined for one that will do. */
export function lengthProblemOf(password: string): string | undefined {
  const isFit = password.length >= SHORTEST_PASSWORD && password.length <= LONGEST_PASSWORD;
  return isFit ? undefined : `must have ${SHORTEST_PASSWORD} to ${LONGEST_PASSWORD} characters`;
}

/**
 * Why nobody should choose this password: whoever guesses would try it among the first (NIST SP 800-63B: common ones, repetitions, sequences, the
 * name of the person and of the service). There are no other rules, so that any sentence will do.
 * @param email of the person
 * @returns undefined for one that will do
 */
export function guessProblemOf(password: string, email: string): string | undefined {
  const lower = password.toLowerCase();
  if (isRepeated(lower)) return 'must be more than one piece that is repeated';
  if (isOfRows(lower)) return 'must be more than rows of keys, letters or digits';
  const words = wordsOf(lower);
  const names = namesOf(email);
  if (words.some((word) => names.has(word))) return 'must not be your email address or a part of it';
  if (words.includes('signalbox')) return 'must not be the name of this product';
  const isCommon = COMMON_MIXTURES.has(lower) || words.some((word) => COMMON_PASSWORDS.has(word));
  return isCommon ? 'must not be one of the most common ones, nor one with digits or signs added' : undefined;
}

/** Two and more times the same, the last one perhaps not whole. */
function isRepeated(password: string): boolean {
  const characters = Array.from(password);
  const isOf = (length: number): boolean => characters.every((character, place) => character === characters[place % length]);
  for (let length = 1; length * 2 <= characters.length; length += 1) if (isOf(length)) return true;
  return false;
}

function isOfRows(password: string): boolean {
  let runs = 0;
  for (let place = 0; place < password.length; runs += 1) place += runAt(password, place);
  return runs * SHORTEST_RUN <= password.length;
}

/** How many characters from here on are of one row, or the same. */
function runAt(password: string, from: number): number {
  const isRun = (run: string): boolean => run === run[0]!.repeat(run.length) || ROWS.some((row) => row.includes(run));
  let length = 1;
  while (from + length < password.length && isRun(password.slice(from, from + length + 1))) length += 1;
  return length;
}

/** `P@ssw0rd!`, `password2031` and `123password` are all `password`. */
function wordsOf(password: string): string[] {
  const begun = password.replace(/[^\p{L}]+$/u, '');
  const bare = begun.replace(/^[^\p{L}]+/u, '');
  return [...new Set([password, begun, bare].flatMap((text) => [lettersOf(text), lettersOf(readable(text))]))];
}

function readable(text: string): string {
  return text.replaceAll(/[013457@$!]/g, (sign) => LETTERS[sign]!);
}

/** Without spaces and punctuation: `ada.lovelace` and `ada lovelace` are the same. */
function lettersOf(text: string): string {
  return text.replaceAll(/[^\p{L}\p{N}]/gu, '');
}

/** `ada.lovelace@example.org`: the whole, both sides, and the words of both. */
function namesOf(email: string): ReadonlySet<string> {
  const address = email.toLowerCase();
  const [local = '', domain = ''] = address.split('@');
  const labels = domain.split('.').slice(0, -1);
  const names = [address, local, domain, ...local.split(/[^\p{L}\p{N}]+/u), ...labels].map(lettersOf);
  return new Set(names.filter((name) => name.length >= SHORTEST_NAME));
}
