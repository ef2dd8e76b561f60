/** One word of a filter: `-site:"Main street"`. */
export interface FilterWord<Field extends string> {
  /** As it was written, and where in the filter it begins. */
  text: string;
  at: number;
  isNot: boolean;
  /** Undefined: a word without a field. */
  field: Field | undefined;
  /** Without the quotes. */
  value: string;
}

/**
 * Reads the words of a filter: a minus sign, a field, and a value that may be quoted. A word with nothing behind its field or its minus sign,
 * which is still being typed, says nothing.
 */
export function filterWords<Field extends string>(q: string, fields: readonly Field[]): FilterWord<Field>[] {
  const word = new RegExp(`(-?)(?:(${fields.join('|')}):)?("[^"]*"?|\\S+)`, 'g');
  return [...q.matchAll(word)].flatMap((found) => {
    const [text, minus, field, written] = found;
    const value = written!.replaceAll('"', '');
    if (value === '' || text === '-' || fields.some((name) => text === `${name}:` || text === `-${name}:`)) return [];
    return [{ text, at: found.index, isNot: minus === '-', field: field as Field | undefined, value }];
  });
}

/** Whether a word is written as in other programs: `edge-*`, `version<7`, `status:up`. An IPv6 address rarely begins with two letters. */
export function hasForeignWord(words: readonly FilterWord<string>[]): boolean {
  return words.some(({ field, value }) => field === undefined && /\*|^[a-z_]{2,}[:<>=]/i.test(value));
}

/** A value for a filter: quoted when it has spaces. */
export function quoted(value: string): string {
  return /\s/.test(value) ? `"${value}"` : value;
}

/** The filter without one of its words. */
export function withoutWord(q: string, { at, text }: Pick<FilterWord<string>, 'at' | 'text'>): string {
  return `${q.slice(0, at).trimEnd()} ${q.slice(at + text.length).trimStart()}`.trim();
}
