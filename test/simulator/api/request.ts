import { compileQuery, type RowFilter } from './query.ts';

/** A sentence as the session understands it. */
export interface Request {
  /** `/ip/address/print` */
  readonly word: string;
  /** `/ip/address` */
  readonly path: string;
  /** `print` */
  readonly command: string;
  readonly tag: string | undefined;
  readonly attributes: Map<string, string>;
  /** Undefined: every property. */
  readonly proplist: readonly string[] | undefined;
  readonly passes: RowFilter;
}

/** An attribute word is split on its second `=`; the value may contain anything. */
function splitAttribute(word: string): [string, string] {
  const cut = word.indexOf('=', 1);
  return cut < 0 ? [word.slice(1), ''] : [word.slice(1, cut), word.slice(cut + 1)];
}

export function readRequest(words: readonly string[]): Request {
  const word = words[0] ?? '';
  const attributes = new Map<string, string>();
  const queries: string[] = [];
  let tag: string | undefined;
  for (const each of words.slice(1)) {
    if (each.startsWith('?')) queries.push(each);
    else if (each.startsWith('.tag=')) tag = each.slice(5);
    else if (each.startsWith('.proplist=')) attributes.set('.proplist', each.slice(10));
    else if (each.startsWith('=')) attributes.set(...splitAttribute(each));
  }
  const proplist = attributes.get('.proplist');
  attributes.delete('.proplist');
  const cut = word.lastIndexOf('/');
  return {
    word,
    path: word.slice(0, Math.max(0, cut)),
    command: word.slice(cut + 1),
    tag: tag === '' ? undefined : tag,
    attributes,
    proplist: proplist === undefined || proplist === '' ? undefined : proplist.split(','),
    passes: compileQuery(queries),
  };
}
