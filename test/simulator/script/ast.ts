import type { Value } from './values.ts';

export type Expr =
  | { readonly kind: 'literal'; readonly value: Value }
  /** A quoted string with `$var`, `$(expr)` or `$[command]` in it. */
  | { readonly kind: 'template'; readonly parts: readonly (string | Expr)[] }
  | { readonly kind: 'variable'; readonly name: string }
  /** A bare name in a `where`: a property of the item looked at. */
  | { readonly kind: 'property'; readonly name: string }
  | { readonly kind: 'unary'; readonly op: '!' | '-' | '~'; readonly operand: Expr }
  | { readonly kind: 'binary'; readonly op: BinaryOp; readonly left: Expr; readonly right: Expr }
  | { readonly kind: 'command'; readonly body: Block }
  | { readonly kind: 'array'; readonly items: readonly { readonly key?: string; readonly value: Expr }[] }
  | { readonly kind: 'code'; readonly body: Block; readonly source: string };

export type BinaryOp =
  | ',' | '||' | '&&' | '=' | '!=' | '<' | '>' | '<=' | '>=' | '~' | 'in' | '.'
  | '|' | '^' | '&' | '<<' | '>>' | '+' | '-' | '*' | '/' | '%' | '->';

export interface Arg {
  /** Absent for a positional value. */
  readonly name?: string;
  /** Absent for a flag word (`detail`). */
  readonly value?: Expr;
  /** `!name`: unset that property. */
  readonly negated?: boolean;
}

export type Statement =
  | { readonly kind: 'menu'; readonly line: number; readonly path: string; readonly command: string; readonly args: readonly Arg[]; readonly where?: Expr }
  | { readonly kind: 'builtin'; readonly line: number; readonly name: string; readonly args: readonly Arg[] }
  | { readonly kind: 'call'; readonly line: number; readonly callee: Expr; readonly args: readonly Arg[] }
  | { readonly kind: 'block'; readonly line: number; readonly body: Block };

export interface Block {
  readonly statements: readonly Statement[];
}
