import type { JsonSchema, OpenApiDocument } from './openapi-types.ts';

const REFERENCE = '#/components/schemas/';

/**
 * Keeps only the schemas that operations use, each once and under its plain name. The generator includes every schema of
 * the process, and adds a second one for input (`JobInput`), which is usually identical.
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
    // The input schema replaces the plain one where only it is used: it has no `additionalProperties: false`.
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

/** Formats whose generated pattern is redundant. */
const KNOWN_FORMATS = new Set(['date-time', 'uuid', 'email']);

/** Removes redundant parts: the bounds of safe integers, patterns beside their format. */
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
