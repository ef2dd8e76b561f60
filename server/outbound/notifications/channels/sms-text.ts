import type { Text } from '../texts/types.ts';

/** One segment of a text message. A second one costs as much as the first, and splits what a person reads. Pure. */

/** 3GPP TS 23.038: 160 septets, or 70 UTF-16 units for a text with any other character. */
export const GSM_SEPTETS = 160;
export const UCS2_UNITS = 70;

const BASIC =
  '@£$¥èéùìòÇ\nØø\rÅåΔ_ΦΓΛΩΠΨΣΘΞÆæßÉ !"#¤%&\'()*+,-./0123456789:;<=>?¡ABCDEFGHIJKLMNOPQRSTUVWXYZÄÖÑÜ§¿abcdefghijklmnopqrstuvwxyzäöñüà';
/** These take two septets. */
const EXTENDED = '^{}\\[~]|€';
/** What our own sentences have beyond it. */
const REPLACED: Record<string, string> = {
  '…': '...',
  '–': '-',
  '—': '-',
  '•': '*',
  '“': '"',
  '”': '"',
  '’': "'",
  '\u00A0': ' ',
  '\u202F': ' ',
};
/** Where a link was broken up. It would make every message an expensive one; a space breaks a link as well. */
const JOINER = /\u2060/g;

/** What the text measures: septets, or undefined when it has characters outside the alphabet. */
export function septetsOf(text: string): number | undefined {
  let septets = 0;
  for (const character of text) {
    if (BASIC.includes(character)) septets += 1;
    else if (EXTENDED.includes(character)) septets += 2;
    else return undefined;
  }
  return septets;
}

/** The subject and, if there is room, the link. */
export function smsText(text: Text): string {
  const words = `Signalbox: ${asGsm(text.subject)}`;
  const withLink = `${words} ${text.url}`;
  return [withLink, words].find(fits) ?? cut(words);
}

export function fits(text: string): boolean {
  const septets = septetsOf(text);
  return septets === undefined ? text.length <= UCS2_UNITS : septets <= GSM_SEPTETS;
}

function cut(text: string): string {
  const characters = Array.from(text);
  let kept = characters.slice(0, GSM_SEPTETS);
  while (!fits(`${kept.join('')}...`)) kept = kept.slice(0, -1);
  return `${kept.join('').trimEnd()}...`;
}

/** Letters without their accents where the alphabet has only the plain ones: "Málaga" is "Malaga". Other scripts stay. */
function asGsm(text: string): string {
  return Array.from(text.replace(JOINER, ' '), (character) => {
    if (septetsOf(character) !== undefined) return character;
    const plain = REPLACED[character] ?? character.normalize('NFD').replace(/\p{M}/gu, '');
    return septetsOf(plain) === undefined ? character : plain;
  }).join('');
}
