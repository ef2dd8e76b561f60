import { Fragment } from 'react';
import type { ReactNode } from 'react';

/** A sentence with elements in it: `{name}` becomes `parts[name]`. A translation may put them in another order. */
export function fill(sentence: string, parts: Record<string, ReactNode>): ReactNode {
  return sentence.split(/\{(\w+)\}/).map((piece, index) => <Fragment key={index}>{index % 2 === 0 ? piece : parts[piece]}</Fragment>);
}
