import { z } from 'zod';
import { problemSchema } from './error-handler.ts';
import { pathId } from './fields.ts';

/** The `{status, data}` around most answers (docs/interface.md). */
export function envelope<T extends z.ZodType>(data: T) {
  return z.object({ status: z.literal('success'), data });
}

export function success<T>(data: T): { status: 'success'; data: T } {
  return { status: 'success', data };
}

/** Error answers every authenticated route can give, for the OpenAPI document. */
export const commonErrors = {
  401: problemSchema.describe('No credential, or one that is not valid'),
  403: problemSchema.describe('The credential lacks the right'),
  404: problemSchema.describe('No such record in this team'),
  422: problemSchema.describe('A field was refused'),
  429: problemSchema.describe('Too many requests; see Retry-After'),
} as const;

/** A moment as docs/interface.md has it: ISO 8601 in UTC, with milliseconds. */
export const dateTime = z.iso.datetime();

export function toDateTime(millis: number): string {
  return new Date(millis).toISOString();
}

export function toDateTimeOrNull(millis: number | null): string | null {
  return millis === null ? null : toDateTime(millis);
}

/** `{router_id}` in a path. Identities are replaced by ids before this is read (router-names.ts). */
export const routerParams = z.object({
  router_id: pathId.describe('Id of the router, or its identity if no other router of the team has it'),
});
