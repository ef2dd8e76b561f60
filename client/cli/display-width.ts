/** How many cells of a terminal a text takes. */

/** Clusters, not code points: a letter with its accents, or an emoji of several parts, is one character on the screen. */
const clusters = new Intl.Segmenter(undefined, { granularity: 'grapheme' });

/** ASCII and Latin-1 letters: the texts of almost every table. */
const PLAIN = /^[\u0020-\u007e\u00a0-\u00ac\u00ae-\u02ff]*$/;

/** Wide by Unicode's East Asian Width: whole scripts, their signs and punctuation, full-width forms and emoji. */
const WIDE_SCRIPT =
  /^[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Bopomofo}\p{Script=Yi}\p{Script=Tangut}\p{Script=Nushu}\p{Script=Khitan_Small_Script}]/u;
const WIDE_RANGE =
  /^[\u1100-\u115f\ua960-\ua97c\uac00-\ud7a3\u2e80-\u303e\u2329\u232a\u3041-\u3247\u3250-\u33ff\ufe10-\ufe19\ufe30-\ufe6b\uff01-\uff60\uffe0-\uffe6\u{1f200}-\u{1f265}]/u;
const HALF_WIDTH = /^[\uff61-\uffdc]/u;
const EMOJI = /\p{Emoji_Presentation}|\p{Extended_Pictographic}\ufe0f|[\d#*]\ufe0f\u20e3/u;
const INVISIBLE = /^[\p{Mark}\p{Cf}\p{Default_Ignorable_Code_Point}]*$/u;

/** Cells of a text without control characters: 2 for East Asian characters and emoji, 0 for accents and joiners on their own. */
export function displayWidth(text: string): number {
  if (PLAIN.test(text)) return text.length;
  let width = 0;
  for (const { segment } of clusters.segment(text)) width += clusterWidth(segment);
  return width;
}

/** The text, filled up with spaces to this width. */
export function padToWidth(text: string, width: number): string {
  return text + ' '.repeat(Math.max(0, width - displayWidth(text)));
}

/** The beginning of a text that fits, with `…` at its end if something is missing. @param width at least 1 */
export function cutToWidth(text: string, width: number): string {
  if (displayWidth(text) <= width) return text;
  let kept = '';
  let used = 0;
  for (const { segment } of clusters.segment(text)) {
    used += clusterWidth(segment);
    if (used > width - 1) break;
    kept += segment;
  }
  return `${kept}…`;
}

/** A text in parts that fit into this width. @param width at least 2, the width of one character */
export function splitAtWidth(text: string, width: number): string[] {
  const parts = [''];
  let used = 0;
  for (const { segment } of clusters.segment(text)) {
    const cells = clusterWidth(segment);
    if (used + cells > width) {
      parts.push('');
      used = 0;
    }
    parts[parts.length - 1] += segment;
    used += cells;
  }
  return parts;
}

function clusterWidth(cluster: string): number {
  if (PLAIN.test(cluster)) return cluster.length;
  // Signs of some scripts join with what follows, also with a space, which takes its cell all the same.
  if (cluster.endsWith(' ')) return clusterWidth(cluster.slice(0, -1)) + 1;
  if (INVISIBLE.test(cluster)) return 0;
  if (HALF_WIDTH.test(cluster)) return 1;
  return WIDE_SCRIPT.test(cluster) || WIDE_RANGE.test(cluster) || EMOJI.test(cluster) ? 2 : 1;
}
