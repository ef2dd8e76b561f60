import { z } from 'zod';
import { ROLES } from '../../../platform/core/principal.ts';
import type { App } from '../../../platform/http/app.ts';
import { checkGrant, principalOf } from '../../../platform/http/authentication.ts';
import { commonErrors, dateTime, envelope, success, toDateTime } from '../../../platform/http/envelope.ts';
import { problemSchema } from '../../../platform/http/error-handler.ts';
import { nameField, pathId, textField } from '../../../platform/http/fields.ts';
import { linkNext, pageQuery, readPage } from '../../../platform/http/pagination.ts';
import { CLIENT_KINDS } from '../types.ts';
import type { Client } from '../types.ts';
import type { ClientsService } from './service.ts';

const MAX_URIS = 20;
const LONGEST_URI = 1000;

const example = {
  id: '01a1fb9c-376e-7279-a064-482cecad7b5b',
  name: 'Ticket system',
  kind: 'web' as const,
  role: 'operator' as const,
  redirect_uris: ['https://tickets.example.net/callback'],
  post_logout_redirect_uris: [],
  created_by: '01a1fb90-11aa-7d2c-9f0e-3a1c5e7b9d24',
  created_at: '2031-05-01T08:30:00.000Z',
};

const uris = z.array(textField(LONGEST_URI)).max(MAX_URIS);
const role = z.enum(ROLES);
const clientSchema = z
  .object({
    id: z.string().describe('`client_id`'),
    name: z.string().describe('Name that people see when they are asked for consent'),
    kind: z.enum(CLIENT_KINDS),
    role: role.describe('Highest role of the client, whatever the role of the user'),
    redirect_uris: z.array(z.string()),
    post_logout_redirect_uris: z.array(z.string()),
    created_by: z.string().nullable(),
    created_at: dateTime,
  })
  .meta({ id: 'Client', examples: [example] });
const secretSchema = clientSchema
  .extend({ client_secret: z.string().nullable().describe('Shown only in this answer; null for a kind that cannot keep a secret') })
  .meta({ id: 'ClientWithSecret', examples: [{ ...example, client_secret: `sbx_cli_${'x'.repeat(62)}` }] });

const kindField = z
  .enum(CLIENT_KINDS)
  .describe('`web` keeps a secret on its server; `browser` and `native` have none; `implicit` is for old applications');
const newClientBody = z
  .object({
    name: nameField,
    kind: kindField,
    role: role.optional().describe("At most the caller's role. Default: the caller's role"),
    redirect_uris: uris.min(1).describe('Compared character by character; https, except for loopback addresses'),
    post_logout_redirect_uris: uris.optional(),
  })
  .meta({
    id: 'NewClient',
    examples: [{ name: example.name, kind: example.kind, role: example.role, redirect_uris: example.redirect_uris }],
  });
const changeBody = newClientBody
  .omit({ kind: true })
  .partial()
  .meta({ id: 'ClientChange', examples: [{ redirect_uris: example.redirect_uris }] });

const params = z.object({ client_id: pathId });
const tags = ['clients'];

/**
 * For administrators only: a client may act for every member who agrees.
 * @param deps.onRevoked awaited before the answer: ends what was opened through the client
 */
export function clientRoutes(app: App, deps: { clients: ClientsService; onRevoked?: (teamId: string) => Promise<void> }): void {
  clientReading(app, deps.clients);
  clientCreation(app, deps.clients);
  clientChange(app, deps);
  secretRenewal(app, deps.clients);
  clientDeletion(app, deps);
}

function clientReading(app: App, clients: ClientsService): void {
  app.get(
    '/api/clients',
    {
      config: { role: 'admin' },
      schema: {
        tags,
        summary: 'List the OpenID clients that may act for members, newest first',
        querystring: pageQuery,
        response: { 200: envelope(z.array(clientSchema)), ...commonErrors },
      },
    },
    async (request, reply) => {
      const page = readPage(request.query);
      const found = await clients.list(principalOf(request).teamId, page);
      linkNext(request, reply, page, found, (client) => ({ at: client.createdAt, id: client.id }));
      return success(found.map(present));
    },
  );
  app.get(
    '/api/clients/:client_id',
    {
      config: { role: 'admin' },
      schema: { tags, summary: 'Read one client', params, response: { 200: envelope(clientSchema), ...commonErrors } },
    },
    async (request) => success(present(await clients.get(principalOf(request).teamId, request.params.client_id))),
  );
}

function clientCreation(app: App, clients: ClientsService): void {
  app.post(
    '/api/clients',
    {
      config: { role: 'admin', secretAnswer: true },
      schema: {
        tags,
        summary: 'Register an OpenID client that signs members in and acts for them',
        body: newClientBody,
        response: { 200: envelope(secretSchema), ...commonErrors, 409: problemSchema.describe('The team has too many clients') },
      },
    },
    async (request, reply) => {
      const { teamId, id: createdBy, role: own } = principalOf(request);
      const {
        name,
        kind,
        role: wanted = own,
        redirect_uris: redirectUris,
        post_logout_redirect_uris: postLogoutRedirectUris,
      } = request.body;
      request.auditDetail = name;
      checkGrant(request, wanted);
      const { client, secret } = await clients.create({
        teamId,
        name,
        kind,
        role: wanted,
        redirectUris,
        postLogoutRedirectUris,
        createdBy,
      });
      reply.header('cache-control', 'no-store');
      return success({ ...present(client), client_secret: secret });
    },
  );
}

function clientChange(app: App, { clients, onRevoked }: Parameters<typeof clientRoutes>[1]): void {
  app.patch(
    '/api/clients/:client_id',
    {
      config: { role: 'admin' },
      schema: {
        tags,
        summary: 'Change a client; missing fields stay unchanged',
        params,
        body: changeBody,
        response: { 200: envelope(clientSchema), ...commonErrors },
      },
    },
    async (request) => {
      const { name, role: wanted, redirect_uris: redirectUris, post_logout_redirect_uris: postLogoutRedirectUris } = request.body;
      if (wanted !== undefined) checkGrant(request, wanted);
      const change = { name, role: wanted, redirectUris, postLogoutRedirectUris };
      const changed = await clients.change(principalOf(request).teamId, request.params.client_id, change);
      request.auditDetail = changed.name;
      await onRevoked?.(principalOf(request).teamId);
      return success(present(changed));
    },
  );
}

function secretRenewal(app: App, clients: ClientsService): void {
  app.post(
    '/api/clients/:client_id/secret',
    {
      config: { role: 'admin', secretAnswer: true },
      schema: {
        tags,
        operationId: 'renewClientSecret',
        summary: 'Replace the secret of a client; the old one is refused at once',
        params,
        response: { 200: envelope(secretSchema), ...commonErrors, 409: problemSchema.describe('Clients of this kind have no secret') },
      },
    },
    async (request, reply) => {
      const { client, secret } = await clients.renewSecret(principalOf(request).teamId, request.params.client_id);
      reply.header('cache-control', 'no-store');
      return success({ ...present(client), client_secret: secret });
    },
  );
}

function clientDeletion(app: App, { clients, onRevoked }: Parameters<typeof clientRoutes>[1]): void {
  app.delete(
    '/api/clients/:client_id',
    {
      config: { role: 'admin' },
      schema: {
        tags,
        summary: 'Delete a client; its next request is refused, and everything it opened for members ends',
        params,
        response: { 204: z.null().describe('Deleted'), ...commonErrors },
      },
    },
    async (request, reply) => {
      const { teamId } = principalOf(request);
      request.auditDetail = (await clients.get(teamId, request.params.client_id)).name;
      await clients.delete(teamId, request.params.client_id);
      await onRevoked?.(teamId);
      return reply.code(204).send(null);
    },
  );
}

function present(client: Client): z.infer<typeof clientSchema> {
  return {
    id: client.id,
    name: client.name,
    kind: client.kind,
    role: client.role,
    redirect_uris: client.redirectUris,
    post_logout_redirect_uris: client.postLogoutRedirectUris,
    created_by: client.createdBy,
    created_at: toDateTime(client.createdAt),
  };
}
