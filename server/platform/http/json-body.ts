import type { IncomingHttpHeaders } from 'node:http';
import { AppError, invalidField } from '../core/errors.ts';
import type { App } from './app-type.ts';

/** The deepest body of the interface has four levels. */
const MAX_DEPTH = 32;

/**
 * Reads JSON bodies only. Rejects excessive nesting, NUL characters, which PostgreSQL cannot store, and invalid UTF-8,
 * which would be replaced and could then run on a router.
 */
export function readJsonBodies(app: App, exactIntegers: boolean): void {
  const parse = app.getDefaultJsonParser('error', 'error');
  app.removeAllContentTypeParsers();
  app.addContentTypeParser('application/json', { parseAs: 'buffer' }, (request, body, done) => {
    const text = decode(body as Buffer);
    const problem = refusedEncoding(request.headers) ?? (text === undefined ? invalidField('body', 'is not valid UTF-8') : refusal(text));
    if (problem) done(problem);
    // Callers send the content type with every request (docs/interface.md), also with a DELETE without a body.
    else if (text === '' || text === undefined) done(null, undefined);
    else
      void parse(request, text, (error, value) =>
        error ? done(invalidField('body', 'is not valid JSON')) : done(null, exactIntegers ? withExactIntegers(text) : value),
      );
  });
}

/** A 64-bit integer has at most 19 digits. Converting a million digits to a bigint takes a third of a second. */
const WHOLE_NUMBER = /^-?\d{1,40}$/;

/** The text has already been parsed: it is valid and contains no dangerous member names. */
function withExactIntegers(text: string): unknown {
  const exact = (_name: string, value: unknown, { source }: { source?: string }): unknown =>
    typeof value === 'number' && !Number.isSafeInteger(value) && WHOLE_NUMBER.test(source ?? '') ? BigInt(source!) : value;
  return JSON.parse(text, exact as (this: unknown, key: string, value: unknown) => unknown);
}

/** JSON is UTF-8 (RFC 8259). Compressed bodies could expand a thousandfold. */
function refusedEncoding({
  'content-type': type = '',
  'content-encoding': encoding = 'identity',
}: IncomingHttpHeaders): AppError | undefined {
  if (encoding.toLowerCase() !== 'identity')
    return new AppError('unsupported_media_type', `the Content-Encoding must not be ${encoding}: bodies are not compressed`);
  const charset = /;\s*charset\s*=\s*"?([^";\s]+)/i.exec(type)?.[1] ?? 'utf-8';
  return /^utf-?8$|^us-ascii$/i.test(charset) ? undefined : new AppError('unsupported_media_type', 'the charset of JSON is utf-8');
}

function decode(body: Buffer): string | undefined {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(body);
  } catch {
    return undefined;
  }
}

function refusal(body: string): AppError | undefined {
  if (depthOf(body) > MAX_DEPTH) return invalidField('body', `is nested more than ${MAX_DEPTH} levels deep`);
  if (hasNul(body)) return invalidField('body', 'must not contain NUL characters');
  return undefined;
}

/** Deepest nesting of arrays and objects, without building anything. */
function depthOf(json: string): number {
  let depth = 0;
  let deepest = 0;
  for (let i = 0; i < json.length; i += 1) {
    const sign = json[i];
    if (sign === '"') i = endOfString(json, i);
    else if (sign === '[' || sign === '{') deepest = Math.max(deepest, (depth += 1));
    else if (sign === ']' || sign === '}') depth -= 1;
  }
  return deepest;
}

/** Index of the quote that closes the string opened at `start`, or the end of the text. */
function endOfString(json: string, start: number): number {
  for (let i = start + 1; i < json.length; i += 1) {
    if (json[i] === '\\') i += 1;
    else if (json[i] === '"') return i;
  }
  return json.length;
}

/** A NUL written as `\u0000`; `\\u0000` is a backslash and five harmless characters. */
function hasNul(json: string): boolean {
  return json.includes('\\u0000') && /(?:^|[^\\])(?:\\\\)*\\u0000/.test(json);
}
