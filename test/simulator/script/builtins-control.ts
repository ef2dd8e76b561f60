import type { Arg } from './ast.ts';
import { condition } from './comparisons.ts';
import type { Environment } from './environment.ts';
import { Interrupted, ScriptFailure, ValueFailure } from './errors.ts';
import type { Builtin, BuiltinCall, Machine, Outcome } from './machine.ts';
import { toNumber, withEntry } from './operators.ts';
import { bool, entriesOf, isUnset, nothing, num, str, toText, type Value } from './values.ts';

const done: Outcome = { value: nothing, returned: false };

/** The argument without a name at a place, or the one with a name. */
export function argument(call: BuiltinCall, which: number | string): Arg | undefined {
  if (typeof which === 'string') return call.args.find((arg) => arg.name === which);
  return call.args.filter((arg) => arg.name === undefined)[which];
}

/** Its value; nothing when it is not there. */
export async function valueOf(machine: Machine, call: BuiltinCall, env: Environment, ...which: (number | string)[]): Promise<Value> {
  for (const name of which) {
    const expr = argument(call, name)?.value;
    if (expr !== undefined) return machine.evaluate(expr, env);
  }
  return nothing;
}

/** Runs the `{…}` given under a name in a scope of its own. */
async function runCode(machine: Machine, call: BuiltinCall, which: number | string, env: Environment): Promise<Outcome> {
  const expr = argument(call, which)?.value;
  if (expr === undefined) return done;
  if (expr.kind === 'code') return machine.runBlock(expr.body, env.child());
  return { value: await machine.callFunction(await machine.evaluate(expr, env), [], env), returned: false };
}

async function isTrue(machine: Machine, call: BuiltinCall, env: Environment, which: number | string): Promise<boolean> {
  return condition(await valueOf(machine, call, env, which));
}

const runIf: Builtin = async (machine, call, env) => runCode(machine, call, (await isTrue(machine, call, env, 0)) ? 'do' : 'else', env);

const runWhile: Builtin = async (machine, call, env) => {
  while (await isTrue(machine, call, env, 0)) {
    await machine.tick();
    const outcome = await runCode(machine, call, 'do', env);
    if (outcome.returned) return outcome;
  }
  return done;
};

const runDo: Builtin = async (machine, call, env) => {
  const handler = argument(call, 'on-error');
  try {
    return await repeat(machine, call, env);
  } catch (error) {
    if (handler === undefined || !isCatchable(error)) throw error;
    return runCode(machine, call, 'on-error', env);
  }
};

async function repeat(machine: Machine, call: BuiltinCall, env: Environment): Promise<Outcome> {
  for (;;) {
    const outcome = await runCode(machine, call, 0, env);
    if (outcome.returned || argument(call, 'while') === undefined) return outcome;
    await machine.tick();
    if (!(await isTrue(machine, call, env, 'while'))) return done;
  }
}

function isCatchable(error: unknown): error is ScriptFailure | ValueFailure {
  return !(error instanceof Interrupted) && (error instanceof ScriptFailure || error instanceof ValueFailure);
}

const runOnError: Builtin = async (machine, call, env) => {
  try {
    const outcome = await runCode(machine, call, 'in', env);
    return outcome.returned ? outcome : { value: bool(false), returned: false };
  } catch (error) {
    if (!isCatchable(error)) throw error;
    const inner = env.child();
    inner.declare(variableName(call), str(describeFailure(error)));
    const outcome = await runCode(machine, call, 'do', inner);
    return outcome.returned ? outcome : { value: bool(true), returned: false };
  }
};

/** The message with the place of the error, as `:onerror` and a console show it. */
export function describeFailure(error: ScriptFailure | ValueFailure): string {
  if (!(error instanceof ScriptFailure) || error.origin === '') return error.message;
  return `${error.message} (${error.origin}; line ${error.line})`;
}

const runRetry: Builtin = async (machine, call, env) => {
  const [pause, max] = [await valueOf(machine, call, env, 'delay'), toNumber(await valueOf(machine, call, env, 'max')) ?? 1n];
  for (let attempt = 1n; ; attempt += 1n) {
    await machine.tick();
    try {
      return await runCode(machine, call, 'command', env);
    } catch (error) {
      if (!isCatchable(error)) throw error;
      if (attempt >= max) {
        if (argument(call, 'on-error') === undefined) throw error;
        return runCode(machine, call, 'on-error', env);
      }
    }
    await machine.sleep(milliseconds(pause));
  }
};

const runForeach: Builtin = async (machine, call, env) => {
  const names = variableNames(call);
  for (const [index, entry] of entriesOf(await valueOf(machine, call, env, 'in')).entries()) {
    await machine.tick();
    const inner = env.child();
    if (names.length > 1) inner.declare(names[0] ?? '', entry.key === undefined ? num(index) : str(entry.key));
    inner.declare(names.at(-1) ?? '', entry.value);
    const outcome = await runCode(machine, call, 'do', inner);
    if (outcome.returned) return outcome;
  }
  return done;
};

const runFor: Builtin = async (machine, call, env) => {
  const [from, to] = [await number(machine, call, env, 'from'), await number(machine, call, env, 'to')];
  const step = argument(call, 'step') === undefined ? (from <= to ? 1n : -1n) : await number(machine, call, env, 'step');
  if (step === 0n) throw new ValueFailure('invalid value for argument step');
  for (let at = from; step > 0n ? at <= to : at >= to; at += step) {
    await machine.tick();
    const inner = env.child();
    inner.declare(variableName(call), num(at));
    const outcome = await runCode(machine, call, 'do', inner);
    if (outcome.returned) return outcome;
  }
  return done;
};

async function number(machine: Machine, call: BuiltinCall, env: Environment, name: string): Promise<bigint> {
  const value = toNumber(await valueOf(machine, call, env, name));
  if (value === undefined) throw new ValueFailure(`invalid value for argument ${name}`);
  return value;
}

const runLocal: Builtin = async (machine, call, env) => {
  env.declare(variableName(call), await assigned(machine, call, env));
  return done;
};

const runGlobal: Builtin = async (machine, call, env) => {
  const value = await assigned(machine, call, env);
  env.ask(variableName(call));
  if (argument(call, 1) !== undefined || argument(call, 'do') !== undefined) env.set(variableName(call), value);
  return done;
};

const runSet: Builtin = async (machine, call, env) => {
  const target = argument(call, 0)?.value;
  const value = await assigned(machine, call, env);
  if (target?.kind !== 'binary') {
    env.set(variableName(call), value);
    return done;
  }
  if (target.op !== '->' || target.left.kind !== 'variable') throw new ValueFailure('invalid value for argument name');
  const index = await machine.evaluate(target.right, env);
  env.set(target.left.name, withEntry(env.get(target.left.name), index, value));
  return done;
};

/** The value after the name, or the function after `do=`. */
function assigned(machine: Machine, call: BuiltinCall, env: Environment): Promise<Value> {
  return valueOf(machine, call, env, 1, 'do');
}

function variableNames(call: BuiltinCall): string[] {
  const expr = argument(call, 0)?.value;
  return expr?.kind === 'literal' ? entriesOf(expr.value).map((entry) => toText(entry.value)) : [];
}

function variableName(call: BuiltinCall): string {
  const expr = argument(call, 0)?.value;
  return expr?.kind === 'variable' ? expr.name : (variableNames(call)[0] ?? '');
}

/** A `:delay` time: a duration, or a plain number of seconds. */
export function milliseconds(value: Value): number {
  if (value.type === 'time') return value.ms;
  if (isUnset(value)) return 1000;
  const seconds = toNumber(value);
  if (seconds === undefined) throw new ValueFailure('invalid value for argument delay-time');
  return Number(seconds) * 1000;
}

const runDelay: Builtin = async (machine, call, env) => {
  await machine.sleep(milliseconds(await valueOf(machine, call, env, 0, 'delay-time')));
  await machine.tick();
  return done;
};

const runError: Builtin = async (machine, call, env) => {
  throw new ScriptFailure(toText(await valueOf(machine, call, env, 0, 'message')), ':error', call.line);
};

const runReturn: Builtin = async (machine, call, env) => ({ value: await valueOf(machine, call, env, 0, 'value'), returned: true });

const runTime: Builtin = async (machine, call, env) => {
  const start = machine.now();
  const which = argument(call, 'command') === undefined ? 0 : 'command';
  await runCode(machine, call, which, env);
  return { value: { type: 'time', ms: machine.now() - start }, returned: false };
};

/** Commands that decide what runs next, and those that make and change variables. */
export const controlBuiltins: Readonly<Record<string, Builtin>> = {
  if: runIf,
  while: runWhile,
  do: runDo,
  onerror: runOnError,
  retry: runRetry,
  foreach: runForeach,
  for: runFor,
  local: runLocal,
  global: runGlobal,
  set: runSet,
  delay: runDelay,
  error: runError,
  return: runReturn,
  time: runTime,
  nothing: () => Promise.resolve(done),
  quit: () => Promise.reject(new Interrupted()),
  beep: () => Promise.resolve(done),
};
