import type { Block } from './ast.ts';
import { Cursor } from './cursor.ts';
import type { Dialect } from './dialect.ts';
import type { Grammar } from './grammar.ts';
import { parseEnclosed, parseExpression, parseVariable } from './parse-expressions.ts';
import { parseBlock } from './parse-statements.ts';
import { parseString } from './parse-strings.ts';
import { parseValue } from './parse-values.ts';

export interface ParseOptions {
  /** Menu the source starts in; the root when absent. */
  readonly path?: string;
  /** Variables that exist already: the user's globals on a console. */
  readonly declared?: Iterable<string>;
}

/** Parses a whole source. Throws SyntaxFailure with RouterOS's words and place. */
export function parseScript(source: string, dialect: Dialect, options: ParseOptions = {}): Block {
  const grammar: Grammar = {
    cursor: new Cursor(source),
    dialect,
    path: options.path ?? '/',
    scope: { names: new Set(options.declared), parent: undefined, open: false },
    expression: (mode) => grammar.cursor.nested(() => parseExpression(grammar, mode)),
    block: (close, kind) => parseBlock(grammar, close, kind),
    string: () => parseString(grammar),
    variable: () => parseVariable(grammar),
    enclosed: (mode) => parseEnclosed(grammar, mode),
    value: (style) => parseValue(grammar, style),
  };
  return grammar.block('', 'same');
}
