import { z } from 'zod';
import { ENROL_PATH, enrolRequest, enrolResponse } from '../../../protocol/index.ts';
import type { AuditService } from '../audit/service.ts';
import { ROLES } from '../../platform/core/principal.ts';
import type { App } from '../../platform/http/app.ts';
import { checkGrant, identifyCaller, principalOf } from '../../platform/http/authentication.ts';
import { commonErrors, dateTime, envelope, success, toDateTime, toDateTimeOrNull } from '../../platform/http/envelope.ts';
import { problemSchema } from '../../platform/http/error-handler.ts';
import { momentField, nameField, pathId } from '../../platform/http/fields.ts';
import { linkNext, pageQuery, readPage } from '../../platform/http/pagination.ts';
import { limitRequests } from '../../platform/http/rate-limit.ts';
import type { RateLimit } from '../../platform/http/rate-limit.ts';
import { enrolledOrRefused } from './service.ts';
import type { CredentialsService } from './service.ts';
import type { ApiKey, Enrolment } from './types.ts';

const DEFAULT_OVERLAP_MIN = 60;
/** A week. An old key that is needed for longer has been forgotten. */
const LONGEST_OVERLAP_MIN = 7 * 24 * 60;
const MINUTE_MS = 60_000;

const keyExample = {
  id: '01a1fb9c-376e-7279-a064-482cecad7b5b',
  name: 'billing',
  role: 'viewer' as const,
  status: 'live' as const,
  created_by: '01a1fb90-11aa-7d2c-9f0e-3a1c5e7b9d24',
  created_at: '2031-05-01T08:30:00.000Z',
  last_used_at: null,
  expires_at: '2032-05-01T00:00:00.000Z',
  revoked_at: null,
  replaced_by: null,
};
const wholeKeyExample = `${keyExample.id}:01a1fb8f-0000-7b54-8c11-d4f2a6c8e0b2:${'x'.repeat(62)}`;

const role = z.enum(ROLES);
const keySchema = z
  .object({
    id: z.string().describe('First part of the key'),
    name: z.string(),
    role,
    status: z.enum(['live', 'expired', 'revoked']),
    created_by: z.string().nullable().describe("Id of the user or key that created it; null for the server's administrator"),
    created_at: dateTime,
    last_used_at: dateTime.nullable().describe('At most five seconds late'),
    expires_at: dateTime.nullable(),
    revoked_at: dateTime.nullable(),
    replaced_by: z.string().nullable().describe('Id of the key it was rotated to'),
  })
  .meta({ id: 'ApiKey', examples: [keyExample] });
const madeKeySchema = keySchema
  .extend({ api_key: z.string().describe('The complete key, shown only in this answer: <token_id>:<team_id>:<secret>') })
  .meta({ id: 'NewlyMadeApiKey', examples: [{ ...keyExample, api_key: wholeKeyExample }] });

const newKeyBody = z
  .object({
    name: nameField.describe('Purpose of the key').meta({ examples: ['billing'] }),
    role: role.optional().describe("Role of the key, at most the caller's role. Default: the caller's role"),
    expires_at: momentField.optional().describe('Default: the key never expires'),
  })
  .meta({ id: 'NewApiKey' });

const rotationBody = z
  .object({
    overlap_minutes: z
      .int()
      .min(0)
      .max(LONGEST_OVERLAP_MIN)
      .optional()
      .describe(`How long the old key keeps working. Default: ${DEFAULT_OVERLAP_MIN}; 0 ends it at once`),
  })
  .meta({ id: 'ApiKeyRotation', examples: [{ overlap_minutes: DEFAULT_OVERLAP_MIN }] });

const keyParams = z.object({ key_id: pathId });
const tags = ['api keys'];

interface KeyRoutesDeps {
  credentials: CredentialsService;
  now: () => number;
  /** Awaited before the answer: ends what the key opened. */
  onRevoked?: (teamId: string) => Promise<void>;
}

/** For administrators only: the list shows which keys are worth stealing. */
export function apiKeyRoutes(app: App, deps: KeyRoutesDeps): void {
  keyList(app, deps);
  keyCreation(app, deps);
  keyRotation(app, deps);
  keyRevocation(app, deps);
}

function keyList(app: App, { credentials, now }: KeyRoutesDeps): void {
  app.get(
    '/api/api-keys',
    {
      config: { role: 'admin' },
      schema: {
        tags,
        summary: 'List the API keys of the team, newest first, without their secrets',
        querystring: pageQuery,
        response: { 200: envelope(z.array(keySchema)), ...commonErrors },
      },
    },
    async (request, reply) => {
      const page = readPage(request.query);
      const keys = await credentials.listApiKeys(principalOf(request).teamId, page);
      linkNext(request, reply, page, keys, (key) => ({ at: key.createdAt, id: key.id }));
      return success(keys.map((key) => presentKey(key, now())));
    },
  );
}

function keyCreation(app: App, { credentials, now }: KeyRoutesDeps): void {
  app.post(
    '/api/api-keys',
    {
      config: { role: 'admin', secretAnswer: true },
      schema: {
        tags,
        summary: 'Create an API key; the complete key is shown only in this answer',
        body: newKeyBody,
        response: { 200: envelope(madeKeySchema), ...commonErrors, 409: problemSchema.describe('The team has too many valid keys') },
      },
    },
    async (request, reply) => {
      const { teamId, id: createdBy, role: own } = principalOf(request);
      const { name, role = own, expires_at: expiry } = request.body;
      request.auditDetail = `${name}, ${role}`;
      checkGrant(request, role);
      const expiresAt = expiry === undefined ? undefined : Date.parse(expiry);
      const { key, apiKey } = await credentials.createApiKey({ teamId, name, role, createdBy, expiresAt });
      reply.header('cache-control', 'no-store');
      return success({ ...presentKey(key, now()), api_key: apiKey });
    },
  );
}

function keyRotation(app: App, { credentials, now }: KeyRoutesDeps): void {
  app.post(
    '/api/api-keys/:key_id/rotate',
    {
      config: { role: 'admin', secretAnswer: true },
      schema: {
        tags,
        summary: 'Rotate an API key: create its replacement; both work for a while',
        description: 'The new key has the same name, role and expiry. It is shown only in this answer.',
        params: keyParams,
        body: rotationBody.nullish(),
        response: {
          200: envelope(madeKeySchema),
          ...commonErrors,
          409: problemSchema.describe('The key is revoked, has expired or was rotated before'),
        },
      },
    },
    async (request, reply) => {
      const { teamId, id: createdBy } = principalOf(request);
      const overlapMs = (request.body?.overlap_minutes ?? DEFAULT_OVERLAP_MIN) * MINUTE_MS;
      const { key, apiKey } = await credentials.rotateApiKey(teamId, request.params.key_id, { createdBy, overlapMs });
      reply.header('cache-control', 'no-store');
      return success({ ...presentKey(key, now()), api_key: apiKey });
    },
  );
}

function keyRevocation(app: App, { credentials, onRevoked }: KeyRoutesDeps): void {
  app.delete(
    '/api/api-keys/:key_id',
    {
      config: { role: 'admin' },
      schema: {
        tags,
        operationId: 'revokeApiKey',
        summary: 'Revoke an API key, and end what it opened',
        description:
          'Its next request is refused. Its open forwards are revoked, its event streams and connections are closed, its jobs that have not ' +
          'begun are canceled, like its campaigns. GET /api/revocations lists what ended and what continues: jobs that have ' +
          'begun, and keys created with this key, unless revoke_keys is set.',
        params: keyParams,
        querystring: z.object({ revoke_keys: z.enum(['true', 'false']).optional().describe('Also revoke the keys created with this key') }),
        response: { 204: z.null().describe('Revoked, now or earlier'), ...commonErrors },
      },
    },
    async (request, reply) => {
      const { teamId } = principalOf(request);
      await credentials.revokeApiKey(teamId, request.params.key_id, { revokeKeys: request.query.revoke_keys === 'true' });
      await onRevoked?.(teamId);
      return reply.code(204).send(null);
    },
  );
}

function presentKey(key: ApiKey, now: number): z.infer<typeof keySchema> {
  return {
    id: key.id,
    name: key.name,
    role: key.role,
    status: statusOf(key, now),
    created_by: key.createdBy,
    created_at: toDateTime(key.createdAt),
    last_used_at: toDateTimeOrNull(key.lastUsedAt),
    expires_at: toDateTimeOrNull(key.expiresAt),
    revoked_at: toDateTimeOrNull(key.revokedAt),
    replaced_by: key.replacedBy,
  };
}

function statusOf(key: ApiKey, now: number): 'live' | 'expired' | 'revoked' {
  if (key.revokedAt !== null) return 'revoked';
  return key.expiresAt === null || key.expiresAt > now ? 'live' : 'expired';
}

/** For the audit log of the team that created the token: the enrolment and its result. */
function auditEntryOf(enrolment: Exclude<Enrolment, { status: 'unknown' }>, source: string) {
  const isIn = enrolment.status === 'enrolled';
  return {
    team_id: enrolment.token.teamId,
    actor_kind: 'enrol_token',
    actor_id: enrolment.token.id,
    source,
    action: isIn ? 'enrol' : 'refused enrol',
    target: null,
    result: isIn ? 200 : 401,
    detail: isIn ? enrolled(enrolment) : `the token is ${enrolment.status}`,
  };
}

function enrolled({ agentId, token }: Extract<Enrolment, { status: 'enrolled' }>): string {
  return token.replacesAgentId === null ? `agent ${agentId}` : `agent ${agentId}, replaced`;
}

export interface EnrolmentRoutesDeps {
  credentials: CredentialsService;
  audit: Pick<AuditService, 'record'>;
  /** Awaited before the answer: ends what the replaced agent carried. */
  onReplaced: (teamId: string, agentId: string) => Promise<void>;
}

/** {@link enrolmentRoutes} with a rate limit per address, for a scope without authentication. */
export async function openEnrolmentRoutes(app: App, deps: EnrolmentRoutesDeps & { rateLimit: RateLimit }): Promise<void> {
  identifyCaller(app, async () => undefined);
  await limitRequests(app, 'enrolment', deps.rateLimit);
  enrolmentRoutes(app, deps);
}

/** The one request that an agent makes before it has a credential. Its scope must limit requests per address. */
export function enrolmentRoutes(app: App, { credentials, audit, onReplaced }: EnrolmentRoutesDeps): void {
  app.post(
    ENROL_PATH,
    {
      schema: {
        hide: true,
        summary: 'Enrol an agent with a one-use enrolment token',
        body: enrolRequest,
        response: { 200: enrolResponse, ...commonErrors },
      },
    },
    async (request) => {
      const enrolment = await credentials.presentEnrolToken(request.body.token, request.body.name);
      // An unknown token has no team whose audit log could record it.
      if (enrolment.status === 'unknown') request.log.info({ source: request.ip }, 'an agent presented an unknown enrolment token');
      else audit.record(auditEntryOf(enrolment, request.ip));
      if (enrolment.status === 'enrolled' && enrolment.token.replacesAgentId !== null)
        await onReplaced(enrolment.token.teamId, enrolment.agentId);
      return enrolledOrRefused(enrolment);
    },
  );
}
