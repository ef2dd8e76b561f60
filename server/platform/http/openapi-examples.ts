import type { JsonSchema, MediaType, OpenApiDocument, Parameter } from './openapi-types.ts';
import { operationsOf } from './openapi-types.ts';

/** Deeper than any record; guards against schemas that contain themselves. */
const MAX_DEPTH = 12;

const BY_FORMAT: Record<string, unknown> = {
  'date-time': '2031-05-01T08:30:00.000Z',
  uuid: '01a1fb9c-376e-7279-a064-482cecad7b5b',
  email: 'ada@example.org',
  uri: 'https://example.org/',
};

/** Values for common member names, where a schema has no example of its own. */
const BY_NAME: Record<string, unknown> = {
  name: 'Depot',
  description: 'Set the comment of ether1',
  message: 'not found',
  cursor: undefined,
  macAddress: '4C:5E:0C:AA:BB:01',
};

/** Adds an example to every body, response and path parameter, composed from the examples of the schemas. */
export function addExamples(document: OpenApiDocument): void {
  for (const { operation } of operationsOf(document)) {
    for (const parameter of operation.parameters ?? []) addToParameter(document, parameter);
    const contents = [operation.requestBody?.content, ...Object.values(operation.responses).map(({ content }) => content)];
    for (const content of contents) for (const [type, media] of Object.entries(content ?? {})) addToMedia(document, type, media);
  }
}

function addToParameter(document: OpenApiDocument, parameter: Parameter): void {
  if (parameter.in !== 'path' || parameter.example !== undefined) return;
  const isId = /(^|_)id$|^group$/.test(parameter.name);
  parameter.example = isId ? BY_FORMAT['uuid'] : exampleOf(document, parameter.schema, parameter.name);
}

function addToMedia(document: OpenApiDocument, type: string, media: MediaType): void {
  if (!type.endsWith('json') || media.schema === undefined || media.example !== undefined) return;
  media.example = exampleOf(document, media.schema, '');
}

/** One value that the schema accepts. */
export function exampleOf(document: OpenApiDocument, schema: JsonSchema, name: string, depth = 0): unknown {
  const target = resolve(document, schema);
  if (target.examples?.length) return target.examples[0];
  if (target.const !== undefined) return target.const;
  if (target.enum?.length) return target.enum[0];
  const choice = (target.anyOf ?? target.oneOf)?.find((option) => option.type !== 'null');
  if (choice) return exampleOf(document, choice, name, depth);
  if (depth > MAX_DEPTH) return null;
  const type = Array.isArray(target.type) ? target.type[0] : target.type;
  switch (type) {
    case 'object':
      return objectExample(document, target, depth);
    case 'array':
      return [exampleOf(document, target.items ?? {}, name, depth + 1)];
    case 'string':
      return stringExample(target, name);
    case 'integer':
    case 'number':
      return target.default ?? target.minimum ?? 1;
    case 'boolean':
      return target.default ?? true;
    default:
      return null;
  }
}

function objectExample(document: OpenApiDocument, schema: JsonSchema, depth: number): Record<string, unknown> {
  const members = Object.entries(schema.properties ?? {}).map(
    ([name, member]) => [name, exampleOf(document, member, name, depth + 1)] as const,
  );
  if (members.length > 0 || typeof schema.additionalProperties !== 'object') return Object.fromEntries(members);
  return { name: exampleOf(document, schema.additionalProperties, 'value', depth + 1) };
}

function stringExample(schema: JsonSchema, name: string): unknown {
  if (schema.format !== undefined && schema.format in BY_FORMAT) return BY_FORMAT[schema.format];
  if (name in BY_NAME) return BY_NAME[name];
  return /(^|_)id$/.test(name) ? BY_FORMAT['uuid'] : (schema.default ?? 'text');
}

function resolve(document: OpenApiDocument, schema: JsonSchema): JsonSchema {
  if (schema.$ref === undefined) return schema;
  const name = schema.$ref.split('/').at(-1)!;
  return document.components.schemas?.[name] ?? {};
}
