import { z } from 'zod';
import { problemSchema } from './error-handler.ts';
import { pathId } from './fields.ts';

/** The `{status, data}` object around most responses (docs/interface.md). */
export function envelope<T extends z.ZodType>(data: T) {
  return z.object({ status: z.literal('success'), data });
}

export function success<T>(data: T): { status: 'success'; data: T } {
  return { status: 'success', data };
}

/** Error responses of every authenticated route, for the OpenAPI document. */
export const commonErrors = {
  401: problemSchema.describe('The credential is missing or not valid'),
  403: problemSchema.describe('The credential lacks the required role'),
  404: problemSchema.describe('No such record in this team'),
  422: problemSchema.describe('A field is invalid'),
  429: problemSchema.describe('Too many requests; see Retry-After'),
} as const;

/** The time format of docs/interface.md: ISO 8601 in UTC, with milliseconds. */
export const dateTime = z.iso.datetime();

export function toDateTime(millis: number): string {
  return new Date(millis).toISOString();
}

export function toDateTimeOrNull(millis: number | null): string | null {
  return millis === null ? null : toDateTime(millis);
}

/** `{router_id}` in a path. router-names.ts replaces identities with ids before validation. */
export const routerParams = z.object({
  router_id: pathId.describe('Id of the router, or its identity if no other router of the team has it'),
});
