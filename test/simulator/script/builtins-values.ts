import { randomInt } from 'node:crypto';
import { argument, controlBuiltins, valueOf } from './builtins-control.ts';
import { conversions, findIn, lengthOf, pick, sortedEntries, typeName } from './conversions.ts';
import type { Environment } from './environment.ts';
import { SyntaxFailure, ValueFailure } from './errors.ts';
import { renderBlock } from './intermediate.ts';
import type { Builtin, BuiltinCall, Machine } from './machine.ts';
import { limitText, toNumber } from './operators.ts';
import { parseScript } from './parser.ts';
import { convert, deserialize, serialize } from './serialize.ts';
import { nothing, num, str, toText, type Value } from './values.ts';

const give = (value: Value): { value: Value; returned: false } => ({ value, returned: false });

const runPut: Builtin = async (machine, call, env) => {
  machine.write(`${toText(await valueOf(machine, call, env, 0, 'message'))}\r\n`);
  return give(nothing);
};

/** `:parse` never throws: a source that does not parse is a value too, and its text says why. */
const runParse: Builtin = async (machine, call, env) => {
  const expr = argument(call, 0)?.value;
  if (expr?.kind === 'code') return give({ type: 'code', body: expr.body, source: expr.source, text: renderBlock(expr.body) });
  return give(parseToValue(machine, toText(await valueOf(machine, call, env, 0))));
};

export function parseToValue(machine: Machine, source: string): Value {
  try {
    const body = parseScript(source, machine.dialect);
    return { type: 'code', body, source, text: renderBlock(body) };
  } catch (error) {
    if (!(error instanceof SyntaxFailure)) throw error;
    return { type: 'code', body: { statements: [] }, source, text: error.parsed, error: error.message };
  }
}

const runEnvironment: Builtin = (machine) => {
  for (const [name, value] of sortedEntries(machine.globals)) machine.write(`${name}=${toText(value)}\r\n`);
  return Promise.resolve(give(nothing));
};

const runRandomNumber: Builtin = async (machine, call, env) => {
  const [from, to] = [toNumber(await valueOf(machine, call, env, 'from')), toNumber(await valueOf(machine, call, env, 'to'))];
  if (from === undefined || to === undefined || to < from) throw new ValueFailure('invalid value for argument from');
  return give(num(from + BigInt(randomInt(Number(to - from) + 1))));
};

const runRandomText: Builtin = async (machine, call, env) => {
  const length = Number(toNumber(await valueOf(machine, call, env, 'length')) ?? 0n);
  const from = toText(await valueOf(machine, call, env, 'from')) || 'abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789';
  if (length > 65_536) throw new ValueFailure('invalid value for argument length');
  return give(str(Array.from({ length }, () => from[randomInt(from.length)] ?? '').join('')));
};

type Texts = (name: string) => Promise<string>;

/** The texts of named arguments; '' for those not given. */
function textsOf(machine: Machine, call: BuiltinCall, env: Environment): Texts {
  return async (name) => toText(await valueOf(machine, call, env, name));
}

const wordsOf = (text: string): string[] => text.split(/[,;]/).filter((word) => word !== '');

const runSerialize: Builtin = async (machine, call, env) => {
  const text = textsOf(machine, call, env);
  const value = await valueOf(machine, call, env, 0, 'value');
  return give(limitText(serialize(value, await text('to'), wordsOf(await text('options')), (await text('delimiter')) || ';')));
};

const runDeserialize: Builtin = async (machine, call, env) => {
  const text = textsOf(machine, call, env);
  const source = toText(await valueOf(machine, call, env, 0, 'value'));
  return give(deserialize(source, await text('from'), wordsOf(await text('options')), (await text('delimiter')) || ';'));
};

const runConvert: Builtin = async (machine, call, env) => {
  const text = textsOf(machine, call, env);
  return give(convert(await valueOf(machine, call, env, 0, 'value'), await text('from'), await text('to'), await text('transform')));
};

const valueBuiltins: Readonly<Record<string, Builtin>> = {
  put: runPut,
  parse: runParse,
  environment: runEnvironment,
  rndnum: runRandomNumber,
  rndstr: runRandomText,
  serialize: runSerialize,
  deserialize: runDeserialize,
  convert: runConvert,
  len: async (machine, call, env) => give(num(lengthOf(await valueOf(machine, call, env, 0)))),
  typeof: async (machine, call, env) => give(str(typeName(await valueOf(machine, call, env, 0)))),
  pick: async (machine, call, env) =>
    give(
      pick(
        await valueOf(machine, call, env, 0),
        await valueOf(machine, call, env, 1, 'begin'),
        await valueOf(machine, call, env, 2, 'end'),
      ),
    ),
  find: async (machine, call, env) =>
    give(findIn(await valueOf(machine, call, env, 0), await valueOf(machine, call, env, 1), await valueOf(machine, call, env, 2, 'from'))),
  timestamp: (machine) => Promise.resolve(give({ type: 'time', ms: machine.now() })),
};

function convertWith(convert: (value: Value) => Value): Builtin {
  return async (machine, call, env) => give(convert(await valueOf(machine, call, env, 0)));
}

/** Every global command the language itself has; the rest (`:log`, `:execute`, `:ping`) are menus. */
export function createBuiltins(): ReadonlyMap<string, Builtin> {
  const converters = Object.entries(conversions).map(([name, convert]): [string, Builtin] => [name, convertWith(convert)]);
  return new Map([...Object.entries(controlBuiltins), ...Object.entries(valueBuiltins), ...converters]);
}
