import type { JsonSchema, OpenApiDocument } from './openapi-types.ts';

const REFERENCE = '#/components/schemas/';

/**
 * Leaves the schemas that the operations use, each once and under its plain name. The generator knows every schema of
 * the process, and gives each one a second name for what callers send (`JobInput`), which mostly says the same.
 */
export function tidySchemas(document: OpenApiDocument): void {
  const schemas = document.components.schemas ?? {};
  for (const schema of Object.values(schemas)) simplify(schema);
  simplify(document.paths);
  const used = reachable(document.paths, schemas);
  for (const name of used) {
    const plain = plainName(name, schemas);
    if (plain === undefined) continue;
    if (used.has(plain) && !saysTheSame(schemas[name]!, schemas[plain]!)) continue;
    // What is sent wins where only that is used: it has no `additionalProperties: false`.
    if (!used.has(plain)) schemas[plain] = schemas[name]!;
    renameReferences(document, name, plain);
  }
  const kept = [...reachable(document.paths, schemas)].sort();
  document.components.schemas = Object.fromEntries(kept.map((name) => [name, schemas[name]!]));
}

/** `Job` for `JobInput`, when both exist. */
function plainName(name: string, schemas: Record<string, JsonSchema>): string | undefined {
  const plain = /^(.+)Input$/.exec(name)?.[1];
  return plain !== undefined && plain in schemas ? plain : undefined;
}

function saysTheSame(input: JsonSchema, output: JsonSchema): boolean {
  const text = (schema: JsonSchema): string =>
    JSON.stringify(schema)
      .replaceAll(/"\$ref":"([^"]+?)Input"/g, '"$ref":"$1"')
      .replaceAll(',"additionalProperties":false', '');
  return text(input) === text(output);
}

function reachable(from: unknown, schemas: Record<string, JsonSchema>): Set<string> {
  const found = new Set<string>();
  const visit = (part: unknown): void => {
    eachReference(part, (reference) => {
      const name = reference.slice(REFERENCE.length);
      if (!reference.startsWith(REFERENCE) || found.has(name)) return;
      found.add(name);
      visit(schemas[name]);
    });
  };
  visit(from);
  return found;
}

function renameReferences(document: OpenApiDocument, from: string, to: string): void {
  eachReference(document, (reference, holder) => {
    if (reference === REFERENCE + from) holder.$ref = REFERENCE + to;
  });
}

function eachReference(part: unknown, visit: (reference: string, holder: { $ref: string }) => void): void {
  if (typeof part !== 'object' || part === null) return;
  const { $ref: reference } = part as { $ref?: unknown };
  if (typeof reference === 'string') visit(reference, part as { $ref: string });
  for (const value of Object.values(part)) eachReference(value, visit);
}

/** Formats whose pattern in the generator's output says the same at length. */
const KNOWN_FORMATS = new Set(['date-time', 'uuid', 'email']);

/** Takes out what says nothing to a reader: the bounds of exact integers, patterns beside their format. */
function simplify(part: unknown): void {
  if (typeof part !== 'object' || part === null) return;
  const schema = part as JsonSchema;
  if (schema.type === 'integer' && schema.minimum === Number.MIN_SAFE_INTEGER) delete schema.minimum;
  if (schema.type === 'integer' && schema.maximum === Number.MAX_SAFE_INTEGER) delete schema.maximum;
  if (typeof schema.pattern === 'string' && KNOWN_FORMATS.has(String(schema.format))) delete schema.pattern;
  // Every name is a string.
  if (schema.propertyNames && Object.keys(schema.propertyNames).join() === 'type') delete schema.propertyNames;
  for (const value of Object.values(part)) simplify(value);
}
