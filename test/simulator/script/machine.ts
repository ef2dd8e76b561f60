import type { MenuTree, Session } from '../menu/types.ts';
import type { Arg, Block, Expr, Statement } from './ast.ts';
import type { Dialect } from './dialect.ts';
import type { Environment } from './environment.ts';
import type { Value } from './values.ts';

/** What a block or command came to: its value, and whether a `:return` is on its way up. */
export interface Outcome {
  readonly value: Value;
  readonly returned: boolean;
}

/** One run of a script. Everything that executes a part of it gets this and the variables in view. */
export interface Machine {
  readonly menus: MenuTree;
  readonly session: Session;
  readonly dialect: Dialect;
  readonly version: string;
  readonly globals: Map<string, Value>;
  write(text: string): void;
  /** Resolves after `ms`, or at once when the session goes away. */
  sleep(ms: number): Promise<void>;
  /** Milliseconds of the router's own clock. */
  now(): number;
  saveFile(name: string, contents: string): void;
  /** Counts a step: yields to the event loop now and then, throws Interrupted when the session is gone. */
  tick(): Promise<void>;
  evaluate(expr: Expr, env: Environment): Promise<Value>;
  /** `wanted`: the value is used (`[…]`), so `print as-value` and friends give it instead of printing. */
  runBlock(block: Block, env: Environment, wanted?: boolean): Promise<Outcome>;
  callFunction(code: Value, args: readonly Arg[], env: Environment): Promise<Value>;
}

export type BuiltinCall = Extract<Statement, { kind: 'builtin' }>;
export type Builtin = (machine: Machine, call: BuiltinCall, env: Environment) => Promise<Outcome>;
export type MenuStatement = Extract<Statement, { kind: 'menu' }>;
