import fc from 'fast-check';
import type { JsonSchema, OpenApiDocument, Operation, Parameter } from '../../../server/platform/http/openapi-types.ts';

/** One request that the document allows, or almost. */
export interface FuzzRequest {
  path: string;
  query: string;
  headers: Record<string, string>;
  /** Undefined: no body; a string is sent as it is, which may be no JSON. */
  body: string | undefined;
}

/** What reaches beyond the validation: ids of real records, values that the product treats specially. */
export interface Hints {
  /** By the name of a parameter or member. */
  ids: Readonly<Record<string, readonly string[]>>;
  /** Bodies that are accepted, by the operation's name, where schemas alone rarely hit one. */
  bodies: Readonly<Record<string, Readonly<Record<string, unknown>>>>;
}

const NO_HINTS: Hints = { ids: {}, bodies: {} };

const NASTY = [
  '',
  ' ',
  '\0',
  'a\0b',
  '\ud800',
  '../..',
  '%00',
  "' OR 1=1 --",
  '😀'.repeat(50),
  'null',
  '-1',
  '1e309',
  '\r\nx: y',
  'x'.repeat(5000),
];

/** Text of any kind, often of the nasty ones. */
const anyText = fc.oneof(
  { weight: 3, arbitrary: fc.string({ maxLength: 30 }) },
  { weight: 1, arbitrary: fc.constantFrom(...NASTY) },
  { weight: 1, arbitrary: fc.string({ unit: 'binary', maxLength: 20 }) },
);

/** Requests of one operation: mostly what its schemas accept, and of each part sometimes something else. */
export function requestOf(document: OpenApiDocument, path: string, operation: Operation, hints: Hints): fc.Arbitrary<FuzzRequest> {
  const parameters = (operation.parameters ?? []).filter((parameter): parameter is Parameter => parameter.$ref === undefined);
  const schema = operation.requestBody?.content['application/json']?.schema;
  return fc.record({
    path: pathOf(document, path, parameters, hints),
    query: queryOf(document, parameters),
    headers: fc.oneof({ weight: 6, arbitrary: fc.constant({}) }, { weight: 2, arbitrary: HEADERS }),
    body: schema ? bodyOf(document, schema, hints, hints.bodies[operation.operationId!]) : fc.constant(undefined),
  });
}

const visible = fc.stringMatching(/^[ -~]{0,300}$/);

/** What the edge and some routes look at. */
const HEADERS: fc.Arbitrary<Record<string, string>> = fc.oneof(
  fc.record({ 'idempotency-key': fc.oneof(fc.constantFrom('a', 'b', ''), visible) }),
  fc.record({ 'last-event-id': fc.oneof(fc.constantFrom('x.1', 'x.', '.', '999999999999999999.9'), visible) }),
  fc.record({
    'content-type': fc.constantFrom(
      'application/json',
      'application/json; charset=latin1',
      'application/JSON;charset="utf-8"',
      'text/plain',
      'application/problem+json',
      'x',
      '',
    ),
  }),
  fc.record({
    accept: visible,
    range: fc.constantFrom('bytes=0-0', 'x'),
    'if-none-match': fc.constantFrom('*', '"x"'),
    'x-forwarded-for': visible,
  }),
);

/** Where lists go on: as they are given out, and with numbers that nobody gave out. */
const CURSORS = fc
  .tuple(fc.oneof(fc.nat(), fc.constantFrom(0, 1_700_000_000_000, Number.MAX_SAFE_INTEGER, 999_999_999_999_999)), fc.uuid())
  .map(([at, id]) => Buffer.from(`${at}~${id}`, 'latin1').toString('base64url'));

function pathOf(document: OpenApiDocument, path: string, parameters: Parameter[], hints: Hints): fc.Arbitrary<string> {
  const names = [...path.matchAll(/\{(\w+)\}/g)].map(([, name]) => name!);
  const one = (name: string): fc.Arbitrary<string> => {
    const known = hints.ids[name] ?? [];
    const schema = parameters.find((parameter) => parameter.in === 'path' && parameter.name === name)!.schema;
    const other = fc.oneof(fc.uuid(), anyText, valueOf(document, schema, hints).map(String));
    return known.length === 0 ? other : fc.oneof({ weight: 4, arbitrary: fc.constantFrom(...known) }, { weight: 1, arbitrary: other });
  };
  return fc
    .tuple(...names.map(one))
    .map((values) =>
      names.reduce((text, name, index) => text.replace(`{${name}}`, () => encodeURIComponent(values[index]!.toWellFormed())), path),
    );
}

function queryOf(document: OpenApiDocument, parameters: Parameter[]): fc.Arbitrary<string> {
  const own = parameters.filter((parameter) => parameter.in === 'query');
  const right = own.map(
    ({ name, schema }) => [name, name === 'cursor' ? CURSORS : valueOf(document, schema, NO_HINTS).map(String)] as const,
  );
  const wrong = own.map(({ name }) => [name, anyText] as const);
  const records = [right, wrong].map((entries) => fc.record(Object.fromEntries(entries), { requiredKeys: [] }));
  return fc.oneof({ weight: 3, arbitrary: records[0]! }, { weight: 1, arbitrary: records[1]! }).map((record) => {
    const search = new URLSearchParams(
      Object.entries(record).map(([name, value]): [string, string] => [name, String(value).toWellFormed()]),
    );
    return search.size === 0 ? '' : `?${search.toString()}`;
  });
}

function bodyOf(document: OpenApiDocument, schema: JsonSchema, hints: Hints, known: object | undefined): fc.Arbitrary<string | undefined> {
  const fromSchema = valueOf(document, schema, hints);
  const value = known === undefined ? fromSchema : fc.oneof(fc.constant(known), fromSchema);
  const right = value.map((value) => JSON.stringify(value));
  const wrong = fc.oneof(
    fc.json({ maxDepth: 4 }),
    fc.anything({ maxDepth: 2, withNullPrototype: false }).map((value) => safeJson(value)),
    fc.tuple(value, fc.string(), fc.jsonValue()).map(([value, name, other]) => JSON.stringify({ ...(value as object), [name]: other })),
    fc.constantFrom(
      undefined,
      '',
      '{',
      '[]',
      'null',
      '"',
      '{"__proto__":{"role":"admin"}}',
      '{"constructor":{"prototype":{}}}',
      `${'['.repeat(2000)}${']'.repeat(2000)}`,
    ),
  );
  return fc.oneof(
    { weight: 3, arbitrary: right },
    { weight: 1, arbitrary: mutated(document, schema, value) },
    { weight: 1, arbitrary: wrong },
    { weight: 1, arbitrary: raw(document, schema, value) },
  );
}

/** Tokens that `JSON.stringify` never writes, or no honest client. */
const RAW_TOKENS = [
  '1e400',
  '-1e400',
  '1e-400',
  '-0',
  '123456789012345678901234567890',
  '9007199254740993',
  '0.30000000000000004',
  'NaN',
  '01',
  'tru',
  String.raw`"\u0000"`,
  String.raw`"a\ud800b"`,
  String.raw`"\udfff"`,
  String.raw`"\u2028\ufeff\u202e"`,
  String.raw`"\x"`,
  '"\t"',
  '{"__proto__":1}',
  `${'['.repeat(20)}${']'.repeat(20)}`,
  `${'{"a":'.repeat(40)}1${'}'.repeat(40)}`,
];

/** A right body with one such token in it, in place of a member or as the same member again. */
function raw(document: OpenApiDocument, schema: JsonSchema, value: fc.Arbitrary<unknown>): fc.Arbitrary<string> {
  const names = Object.keys(resolve(document, schema).properties ?? {});
  return fc
    .tuple(value, fc.constantFrom(...(names.length === 0 ? ['x'] : names)), fc.constantFrom(...RAW_TOKENS), fc.boolean())
    .map(([value, name, token, again]) => {
      const member = `${JSON.stringify(name)}:${token}`;
      const { [name]: own, ...others } = value as Record<string, unknown>;
      const rest = JSON.stringify(again ? { ...others, [name]: own } : others);
      return rest === '{}' ? `{${member}}` : `${rest.slice(0, -1)},${member}}`;
    });
}

/** A right body with one member replaced by anything. */
function mutated(document: OpenApiDocument, schema: JsonSchema, value: fc.Arbitrary<unknown>): fc.Arbitrary<string> {
  const names = Object.keys(resolve(document, schema).properties ?? {});
  if (names.length === 0) return fc.json();
  return fc
    .tuple(value, fc.constantFrom(...names), fc.oneof(fc.jsonValue(), anyText))
    .map(([value, name, other]) => JSON.stringify({ ...(value as object), [name]: other }));
}

function safeJson(value: unknown): string {
  try {
    return JSON.stringify(value) ?? 'null';
  } catch {
    // A bigint or a loop.
    return '{}';
  }
}

/** Values that a schema accepts, as far as JSON Schema says it. */
export function valueOf(document: OpenApiDocument, schema: JsonSchema, hints: Hints, name = ''): fc.Arbitrary<unknown> {
  const target = resolve(document, schema);
  if (target.const !== undefined) return fc.constant(target.const);
  if (target.enum) return fc.constantFrom(...target.enum);
  const choice = target.anyOf ?? target.oneOf;
  if (choice) return fc.oneof(...choice.map((option) => valueOf(document, option, hints, name)));
  if (Array.isArray(target.type)) return fc.oneof(...target.type.map((type) => valueOf(document, { ...target, type }, hints, name)));
  switch (target.type) {
    case 'object':
      return objectOf(document, target, hints);
    case 'array':
      return fc.array(valueOf(document, target.items ?? {}, hints, name.replace(/s$/, '')), {
        minLength: target.minItems ?? 0,
        maxLength: 4,
      });
    case 'string':
      return stringOf(target, hints.ids[name] ?? hints.ids[`${name}_id`] ?? []);
    case 'integer':
      return fc.integer(boundsOf(target, -(2 ** 31), 2 ** 31 - 1));
    case 'number':
      return fc.double({ ...boundsOf(target, -1e9, 1e9), noNaN: true });
    case 'boolean':
      return fc.boolean();
    case 'null':
      return fc.constant(null);
    default:
      return fc.jsonValue();
  }
}

function boundsOf({ minimum, maximum }: JsonSchema, min: number, max: number): { min: number; max: number } {
  return { min: minimum ?? min, max: maximum ?? max };
}

function objectOf(document: OpenApiDocument, schema: JsonSchema, hints: Hints): fc.Arbitrary<unknown> {
  const members = Object.entries(schema.properties ?? {});
  if (members.length === 0) return fc.dictionary(fc.string(), fc.string(), { maxKeys: 4 });
  const required = new Set(schema.required);
  const model = Object.fromEntries(members.map(([name, member]) => [name, valueOf(document, member, hints, name)]));
  return fc.record(model, { requiredKeys: members.map(([name]) => name).filter((name) => required.has(name)) });
}

function stringOf(schema: JsonSchema, known: readonly string[]): fc.Arbitrary<string> {
  const { minLength = 0, maxLength = 200 } = schema as { minLength?: number; maxLength?: number };
  const plain =
    schema.format === 'uuid'
      ? fc.uuid()
      : schema.format === 'date-time'
        ? fc.date({ noInvalidDate: true, min: new Date(0), max: new Date('2200-01-01') }).map((date) => date.toISOString())
        : fc.string({ minLength, maxLength: Math.min(maxLength, minLength + 40) });
  const examples = [...known, ...((schema.examples ?? []) as string[])];
  return examples.length === 0 ? plain : fc.oneof({ weight: 6, arbitrary: fc.constantFrom(...examples) }, { weight: 1, arbitrary: plain });
}

function resolve(document: OpenApiDocument, schema: JsonSchema): JsonSchema {
  if (schema.$ref === undefined) return schema;
  return document.components.schemas?.[schema.$ref.split('/').at(-1)!] ?? {};
}
