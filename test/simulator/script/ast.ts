// Programs and values in one file: a literal holds a value, and a function is a value that holds a program.

/** A value of the script language. Numbers are 64-bit signed, times are milliseconds. */
export type Value =
  | { readonly type: 'nothing' }
  | { readonly type: 'nil' }
  | { readonly type: 'str'; readonly text: string }
  | { readonly type: 'num'; readonly number: bigint }
  | { readonly type: 'bool'; readonly truth: boolean; readonly text: string }
  | { readonly type: 'time'; readonly ms: number }
  | { readonly type: 'ip'; readonly number: number }
  | { readonly type: 'ip-prefix' | 'ip6' | 'ip6-prefix' | 'id'; readonly text: string }
  | { readonly type: 'array'; readonly entries: readonly Entry[] }
  | { readonly type: 'code'; readonly body: Block; readonly source: string; readonly text: string; readonly error?: string };

export interface Entry {
  readonly key?: string;
  readonly value: Value;
}

export type Expr =
  | { readonly kind: 'literal'; readonly value: Value }
  /** A quoted string with `$var`, `$(expr)` or `$[command]` in it. */
  | { readonly kind: 'template'; readonly parts: readonly (string | Expr)[] }
  | { readonly kind: 'variable'; readonly name: string }
  /** A bare name in a `where`: a property of the tested item. */
  | { readonly kind: 'property'; readonly name: string }
  | { readonly kind: 'unary'; readonly op: '!' | '-' | '~'; readonly operand: Expr }
  | { readonly kind: 'binary'; readonly op: BinaryOp; readonly left: Expr; readonly right: Expr }
  | { readonly kind: 'command'; readonly body: Block }
  | { readonly kind: 'array'; readonly items: readonly { readonly key?: string; readonly value: Expr }[] }
  | { readonly kind: 'code'; readonly body: Block; readonly source: string };

export type BinaryOp =
  | ','
  | '||'
  | '&&'
  | '='
  | '!='
  | '<'
  | '>'
  | '<='
  | '>='
  | '~'
  | 'in'
  | '.'
  | '|'
  | '^'
  | '&'
  | '<<'
  | '>>'
  | '+'
  | '-'
  | '*'
  | '/'
  | '%'
  | '->';

export interface Arg {
  /** Absent for a positional value. */
  readonly name?: string;
  /** Absent for a flag word (`detail`). */
  readonly value?: Expr;
  /** `!name`: unset that property. */
  readonly negated?: boolean;
}

export type Statement =
  | {
      readonly kind: 'menu';
      readonly line: number;
      readonly path: string;
      readonly command: string;
      readonly args: readonly Arg[];
      readonly where?: Expr;
    }
  | { readonly kind: 'builtin'; readonly line: number; readonly name: string; readonly args: readonly Arg[] }
  | { readonly kind: 'call'; readonly line: number; readonly callee: Expr; readonly args: readonly Arg[] }
  | { readonly kind: 'block'; readonly line: number; readonly body: Block };

export interface Block {
  readonly statements: readonly Statement[];
}
