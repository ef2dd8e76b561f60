import type { Block, Expr } from './ast.ts';
import type { Cursor } from './cursor.ts';
import type { Dialect } from './dialect.ts';

/** Variable names declared so far, for `:set` of an undeclared one (a syntax error in RouterOS). */
export interface NameScope {
  readonly names: Set<string>;
  readonly parent: NameScope | undefined;
  /** Function bodies may use whatever their caller passes: nothing is checked there. */
  readonly open: boolean;
}

export interface ExpressionMode {
  /** Bare words are properties of the item (`where …`). */
  readonly where: boolean;
  /** Right of a comparison in a `where`: bare words are values. */
  readonly right: boolean;
  /** Inside parentheses, where a line end does not end the expression. */
  readonly enclosed: boolean;
}

/** One parse under way, and the productions that need each other. */
export interface Grammar {
  readonly cursor: Cursor;
  readonly dialect: Dialect;
  /** Menu the next command starts in. */
  path: string;
  scope: NameScope;
  expression(mode: ExpressionMode): Expr;
  /** Commands up to the closing character, which is consumed; '' means up to the end of the source. */
  block(close: '}' | ']' | '', kind: 'same' | 'nested' | 'function'): Block;
  string(): Expr;
  variable(): Expr;
  /** `(…)`, `[…]`, `{…}` array, `"…"` or `$x`, if one begins here. */
  enclosed(mode: ExpressionMode): Expr | undefined;
  value(style: ValueStyle): Expr;
}

/** How an argument value is read: menus take words as text, global commands as typed values; `code` makes `{…}` a block. */
export interface ValueStyle {
  readonly words: 'text' | 'typed';
  readonly code?: 'nested' | 'function' | undefined;
}
