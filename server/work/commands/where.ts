import { invalidField } from '../../platform/core/errors.ts';
import type { ConsoleWord } from './console-words.ts';

const NAME = /^[A-Za-z0-9._-]+$/;
const CONNECTORS: Record<string, 'and' | 'or'> = { and: 'and', '&&': 'and', or: 'or', '||': 'or' };

/**
 * The words after `where` as API query words. Supported are `name=value`, `name!=value`, `name<value` and `name>value`, joined by `and` (or
 * nothing) or by `or`, not both. Everything else is rejected instead of misread: a misread query returns the wrong rows without an error.
 * @throws AppError `invalid` naming `parameters`
 */
export function toQueryWords(words: readonly ConsoleWord[]): string[] {
  const terms: string[][] = [];
  const used = new Set<'and' | 'or'>();
  let isTermDue = true;
  for (const word of words) {
    const connector = word.value === undefined && Object.hasOwn(CONNECTORS, word.name) ? CONNECTORS[word.name] : undefined;
    if (connector === undefined) {
      if (!isTermDue) used.add('and');
      terms.push(toTerm(word));
      isTermDue = false;
    } else {
      if (isTermDue) throw refusal(word.name);
      used.add(connector);
      isTermDue = true;
    }
  }
  if (isTermDue) throw invalidField('parameters', 'where needs a condition, for example where type=ether');
  if (used.size > 1) throw invalidField('parameters', 'where takes "and" or "or", not both; use API words for more');
  return [...terms.flat(), ...(used.has('or') ? [`?#${'|'.repeat(terms.length - 1)}`] : [])];
}

function toTerm({ name, value }: ConsoleWord): string[] {
  if (value !== undefined) {
    if (NAME.test(name)) return [`?${name}=${value}`];
    if (name.endsWith('!') && NAME.test(name.slice(0, -1))) return [`?${name.slice(0, -1)}=${value}`, '?#!'];
    throw refusal(`${name}=`);
  }
  const compared = /^([A-Za-z0-9._-]+)([<>])(.+)$/.exec(name);
  if (!compared) throw refusal(name);
  return [`?${compared[2]}${compared[1]}=${compared[3]}`];
}

function refusal(text: string): Error {
  return invalidField(
    'parameters',
    `where: "${text.slice(0, 50)}" is not supported; write name=value, name!=value, name<value or name>value, joined by and or or`,
  );
}
