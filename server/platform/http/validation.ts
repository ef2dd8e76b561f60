import type { FastifySchemaCompiler } from 'fastify';
import { safeParse } from 'zod/v4/core';
import type { $ZodIssue, $ZodRawIssue, $ZodType } from 'zod/v4/core';
import { AppError } from '../core/errors.ts';
import type { FieldErrors } from '../core/errors.ts';

/** Validates requests with the routes' zod schemas, and describes in plain English what is wrong with which field. */
export const validatorCompiler: FastifySchemaCompiler<$ZodType> = ({ schema, httpPart = 'body' }) => {
  return (data: unknown) => {
    const result = safeParse(schema, data, { error: wordsFor });
    return result.error ? { error: refusal(result.error.issues, httpPart) } : { value: result.data };
  };
};

function refusal(issues: readonly $ZodIssue[], part: string): AppError {
  const errors: FieldErrors = {};
  for (const issue of issues) (errors[fieldOf(issue, part)] ??= []).push(issue.message);
  const [field, reasons] = Object.entries(errors)[0] ?? ['body', ['is not valid']];
  return new AppError('invalid', `${field}: ${reasons[0]}`, { errors });
}

/** `notifiables.0.id` in a body; in a query, a list is one parameter. */
function fieldOf({ path }: $ZodIssue, part: string): string {
  const names = path.map(String);
  return (part === 'body' ? names.join('.') : names[0]) || part;
}

/** A message for the issue; undefined keeps the library's own. A message of the schema itself takes precedence. */
function wordsFor(issue: $ZodRawIssue): string | undefined {
  switch (issue.code) {
    case 'invalid_type':
      if (issue.input === undefined) return 'is required';
      // A field of a form that nobody has filled in, whatever it is to hold.
      return issue.input === '' ? 'must not be empty' : TYPES[String(issue['expected'])];
    case 'too_small':
      return issue['origin'] === 'string' && issue['minimum'] === 1
        ? 'must not be empty'
        : `must ${amount(issue, 'minimum', 'least', 'more')}`;
    case 'too_big':
      return `must ${amount(issue, 'maximum', 'most', 'less')}`;
    case 'invalid_value':
      return `must be ${(issue['values'] as unknown[]).length > 1 ? 'one of ' : ''}${(issue['values'] as unknown[]).join(', ')}`;
    case 'invalid_format':
      return FORMATS[String(issue['format'])];
    default:
      return undefined;
  }
}

const TYPES: Readonly<Record<string, string>> = {
  string: 'must be a string',
  number: 'must be a number',
  int: 'must be a whole number',
  boolean: 'must be true or false',
  array: 'must be a list',
  object: 'must be a JSON object',
  record: 'must be a JSON object',
};

const FORMATS: Readonly<Record<string, string>> = {
  uuid: 'must be a UUID',
  email: 'must be an e-mail address',
  url: 'must be a URL',
  datetime: 'must be a date and time like 2031-05-01T08:30:00Z',
};

/** The unit that a size limit counts, by kind of value; numbers have none. */
const UNITS: Readonly<Record<string, string>> = { string: 'character', array: 'entry', set: 'entry' };

function amount(issue: $ZodRawIssue, bound: 'minimum' | 'maximum', inclusive: string, exclusive: string): string {
  const limit = Number(issue[bound]);
  const unit = UNITS[String(issue['origin'])];
  const relation = issue['inclusive'] === false ? `${exclusive} than` : `at ${inclusive}`;
  return unit === undefined ? `be ${relation} ${limit}` : `have ${relation} ${limit} ${plural(unit, limit)}`;
}

function plural(unit: string, count: number): string {
  if (count === 1) return unit;
  return unit.endsWith('y') ? `${unit.slice(0, -1)}ies` : `${unit}s`;
}
