import { Trap } from '../menu/types.ts';
import type { Arg, Block, Expr, Statement } from './ast.ts';
import { condition, holds } from './comparisons.ts';
import { Environment } from './environment.ts';
import { Interrupted, ScriptFailure, ValueFailure } from './errors.ts';
import type { Builtin, Machine, MenuStatement, Outcome } from './machine.ts';
import { applyBinary, applyUnary, limitText } from './operators.ts';
import { bool, nothing, toText, type Value } from './values.ts';

/** Calls one inside the other before a script counts as run wild. */
const maxCalls = 100;
/** Steps between two turns of the event loop. */
const stepsPerTurn = 2000;

/** What a machine is made of besides its own evaluation of expressions and blocks. */
export interface MachineParts extends Omit<Machine, 'tick' | 'evaluate' | 'runBlock' | 'callFunction'> {
  readonly builtins: ReadonlyMap<string, Builtin>;
  readonly runMenu: (machine: Machine, statement: MenuStatement, env: Environment, wanted: boolean) => Promise<Value>;
}

/** Builds the interpreter for one run. */
export function createMachine(parts: MachineParts): Machine {
  let calls = 0;
  const machine: Machine = {
    ...parts,
    tick: createTick(parts.session.signal),
    evaluate: (expr, env) => evaluate(machine, expr, env),
    runBlock: (block, env, wanted = false) => runBlock(machine, parts, block, env, wanted),
    callFunction: async (code, args, env) => {
      if (calls >= maxCalls) throw new ValueFailure('maximum recursion depth reached');
      calls += 1;
      try {
        return await callFunction(machine, code, args, env);
      } finally {
        calls -= 1;
      }
    },
  };
  return machine;
}

function createTick(signal: AbortSignal): () => Promise<void> {
  let steps = 0;
  return async () => {
    steps += 1;
    if (steps % stepsPerTurn === 0) await new Promise((resolve) => setImmediate(resolve));
    if (signal.aborted) throw new Interrupted();
  };
}

async function runBlock(machine: Machine, parts: MachineParts, block: Block, env: Environment, wanted: boolean): Promise<Outcome> {
  let last: Outcome = { value: nothing, returned: false };
  for (const statement of block.statements) {
    await machine.tick();
    last = await runStatement(machine, parts, statement, env, wanted);
    if (last.returned) return last;
  }
  return last;
}

async function runStatement(
  machine: Machine,
  parts: MachineParts,
  statement: Statement,
  env: Environment,
  wanted: boolean,
): Promise<Outcome> {
  try {
    if (statement.kind === 'block') return await machine.runBlock(statement.body, env.child());
    if (statement.kind === 'menu') return { value: await parts.runMenu(machine, statement, env, wanted), returned: false };
    if (statement.kind === 'call') return { value: await runCall(machine, statement, env), returned: false };
    const builtin = parts.builtins.get(statement.name);
    if (builtin === undefined) throw new ValueFailure(`no such command ${statement.name}`);
    return await builtin(machine, statement, env);
  } catch (error) {
    throw located(machine, error, statement);
  }
}

async function runCall(machine: Machine, call: Extract<Statement, { kind: 'call' }>, env: Environment): Promise<Value> {
  const callee = await machine.evaluate(call.callee, env);
  return callee.type === 'code' ? machine.callFunction(callee, call.args, env) : callee;
}

/** Gives an error of a value or a menu the place RouterOS prints with it. Our own bugs pass unchanged. */
function located(machine: Machine, error: unknown, statement: Statement): unknown {
  if (machine.session.signal.aborted) return new Interrupted();
  if (!(error instanceof Trap) && !(error instanceof ValueFailure)) return error;
  return new ScriptFailure(consoleWording(error.message), originOf(statement), statement.line);
}

/** The API and the console name a missing argument differently. */
function consoleWording(message: string): string {
  return message.replace(/^missing =(.+)=$/, (_, name: string) => `missing value(s) of argument(s) ${name === '.id' ? 'numbers' : name}`);
}

function originOf(statement: Statement): string {
  if (statement.kind === 'menu') return statement.path === '/' ? `/${statement.command}` : `${statement.path}/${statement.command}`;
  return statement.kind === 'builtin' ? `:${statement.name}` : '';
}

/** A function sees its arguments and nothing of its caller: `$name`, `$1`, `$2`, … */
async function callFunction(machine: Machine, code: Value, args: readonly Arg[], env: Environment): Promise<Value> {
  if (code.type !== 'code') return nothing;
  if (code.error !== undefined) throw new ValueFailure(code.error);
  const inner = new Environment(machine.globals);
  let position = 0;
  for (const arg of args) {
    const value = arg.value === undefined ? nothing : await machine.evaluate(arg.value, env);
    if (arg.name === undefined) position += 1;
    inner.declare(arg.name ?? String(position), value);
  }
  const outcome = await machine.runBlock(code.body, inner, true);
  return outcome.value;
}

async function evaluate(machine: Machine, expr: Expr, env: Environment): Promise<Value> {
  switch (expr.kind) {
    case 'literal':
      return expr.value;
    case 'variable':
      // In a `where`, a property hides a variable of the same name.
      return env.item?.names.has(expr.name) === true ? env.item.value(expr.name) : env.get(expr.name);
    case 'property':
      return env.item?.value(expr.name) ?? nothing;
    case 'template':
      return fillTemplate(machine, expr.parts, env);
    case 'unary':
      return evaluateUnary(machine, expr, env);
    case 'binary':
      return evaluateBinary(machine, expr, env);
    case 'command':
      return (await machine.runBlock(expr.body, env, true)).value;
    case 'array':
      return evaluateArray(machine, expr, env);
    case 'code':
      return { type: 'code', body: expr.body, source: expr.source, text: expr.source };
  }
}

async function fillTemplate(machine: Machine, parts: readonly (string | Expr)[], env: Environment): Promise<Value> {
  let text = '';
  for (const part of parts) text += typeof part === 'string' ? part : toText(await machine.evaluate(part, env));
  return limitText(text);
}

async function evaluateArray(machine: Machine, expr: Extract<Expr, { kind: 'array' }>, env: Environment): Promise<Value> {
  const entries: { key?: string; value: Value }[] = [];
  for (const item of expr.items) entries.push({ ...item, value: await machine.evaluate(item.value, env) });
  return { type: 'array', entries };
}

async function evaluateUnary(machine: Machine, expr: Extract<Expr, { kind: 'unary' }>, env: Environment): Promise<Value> {
  const operand = await machine.evaluate(expr.operand, env);
  return expr.op === '!' ? bool(!truth(operand, env)) : applyUnary(expr.op, operand);
}

async function evaluateBinary(machine: Machine, expr: Extract<Expr, { kind: 'binary' }>, env: Environment): Promise<Value> {
  const left = await machine.evaluate(expr.left, env);
  if (expr.op === '&&' && !truth(left, env)) return bool(false);
  if (expr.op === '||' && truth(left, env)) return bool(true);
  const right = await machine.evaluate(expr.right, env);
  if (expr.op === '&&' || expr.op === '||') return bool(truth(right, env));
  return applyBinary(expr.op, left, right);
}

/** A `where` asks whether a property is set; elsewhere only booleans are true or false. */
function truth(value: Value, env: Environment): boolean {
  return env.item === undefined ? condition(value) : holds(value);
}
