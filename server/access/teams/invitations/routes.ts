import { z } from 'zod';
import { ROLES } from '../../../platform/core/principal.ts';
import type { App } from '../../../platform/http/app.ts';
import { checkGrant, principalOf } from '../../../platform/http/authentication.ts';
import { commonErrors, dateTime, envelope, success, toDateTime } from '../../../platform/http/envelope.ts';
import { problemSchema } from '../../../platform/http/error-handler.ts';
import { pathId } from '../../../platform/http/fields.ts';
import { linkNext, pageQuery, readPage } from '../../../platform/http/pagination.ts';
import { INVITATION_PATH, linkTo } from '../types.ts';
import type { InvitationsService } from './service.ts';
import { INVITATION_STATES } from './types.ts';
import type { Invitation } from './types.ts';

/** RFC 5321. */
const LONGEST_EMAIL = 254;

const role = z.enum(ROLES);
const invitationExample = {
  id: '01a1fb9c-376e-7279-a064-482cecad7b5b',
  email: 'ada@example.org',
  role: 'operator' as const,
  state: 'open' as const,
  invited_by: 'grace@example.org',
  created_at: '2031-05-01T08:30:00.000Z',
  expires_at: '2031-05-08T08:30:00.000Z',
};
const invitationSchema = z
  .object({
    id: z.string(),
    email: z.string(),
    role: role.describe('Role of the person after they accept'),
    state: z.enum(INVITATION_STATES).describe('`void`: the inviter may no longer grant this role'),
    invited_by: z.string().nullable().describe("Address of a member or name of an API key; null for the server's operator"),
    created_at: dateTime,
    expires_at: dateTime,
  })
  .meta({ id: 'Invitation', examples: [invitationExample] });

const invitedSchema = z
  .object({
    id: z.null().describe('Null until they accept'),
    email: z.string(),
    role,
    active: z.literal(false),
    created_at: dateTime,
    state: z.literal('invited'),
    invitation: z.object({
      id: z.string(),
      url: z.string().describe('Link for the invited person. Shown only in this answer; works once'),
      expires_at: dateTime,
    }),
  })
  .meta({
    id: 'InvitedMember',
    examples: [
      {
        id: null,
        email: 'ada@example.org',
        role: 'operator',
        active: false,
        created_at: '2031-05-01T08:30:00.000Z',
        state: 'invited',
        invitation: {
          id: '01a1fb9c-376e-7279-a064-482cecad7b5b',
          url: `https://signalbox.example.net/invitation/${'x'.repeat(40)}`,
          expires_at: '2031-05-08T08:30:00.000Z',
        },
      },
    ],
  });

export interface InvitationRoutesDeps {
  invitations: InvitationsService;
  /** The public URL, without a slash at the end; known once the server listens. */
  baseUrl: () => string;
}

/** Invitations into the team. */
export function invitationRoutes(app: App, deps: InvitationRoutesDeps): void {
  inviting(app, deps);
  invitationList(app, deps);
  withdrawal(app, deps);
}

function inviting(app: App, { invitations, baseUrl }: InvitationRoutesDeps): void {
  app.post(
    '/api/members',
    {
      config: { role: 'admin', secretAnswer: true },
      schema: {
        tags: ['members'],
        operationId: 'inviteMember',
        summary: 'Invite a person to the team',
        description:
          'The person becomes a member when they open the link and agree. A new invitation replaces the open one of the same person. ' +
          'The answer does not show whether the person already has an account on this server.',
        body: z
          .object({
            email: z
              .string()
              .max(LONGEST_EMAIL)
              .meta({ examples: ['ada@example.org'] }),
            role,
          })
          .meta({ id: 'NewMember' }),
        response: {
          200: envelope(invitedSchema),
          ...commonErrors,
          409: problemSchema.describe('The person is already a member of this team, or the team has too many open invitations'),
        },
      },
    },
    async (request, reply) => {
      checkGrant(request, request.body.role);
      const { teamId, kind, id } = principalOf(request);
      const { invitation, code } = await invitations.create({ teamId, ...request.body, inviter: { kind, id } });
      request.auditDetail = `invitation ${invitation.id} for ${invitation.email} as ${invitation.role}`;
      reply.header('cache-control', 'no-store');
      const { email, role: offered } = invitation;
      const link = { id: invitation.id, url: linkTo(INVITATION_PATH, baseUrl(), code), expires_at: toDateTime(invitation.expiresAt) };
      const createdAt = toDateTime(invitation.createdAt);
      return success({
        id: null,
        email,
        role: offered,
        active: false as const,
        created_at: createdAt,
        state: 'invited' as const,
        invitation: link,
      });
    },
  );
}

function invitationList(app: App, { invitations }: InvitationRoutesDeps): void {
  app.get(
    '/api/invitations',
    {
      config: { role: 'admin' },
      schema: {
        tags: ['members'],
        operationId: 'listInvitations',
        summary: 'List the invitations of the team with their state, newest first',
        description: 'Invitations are deleted 30 days after their expiry.',
        querystring: pageQuery,
        response: { 200: envelope(z.array(invitationSchema)), ...commonErrors },
      },
    },
    async (request, reply) => {
      const page = readPage(request.query);
      const found = await invitations.list(principalOf(request).teamId, page);
      linkNext(request, reply, page, found, ({ createdAt, id }) => ({ at: createdAt, id }));
      return success(found.map((invitation) => present(invitation, invitations)));
    },
  );
}

function withdrawal(app: App, { invitations }: InvitationRoutesDeps): void {
  app.delete(
    '/api/invitations/:invitation_id',
    {
      config: { role: 'admin' },
      schema: {
        tags: ['members'],
        operationId: 'withdrawInvitation',
        summary: 'Withdraw an invitation; its link stops working',
        params: z.object({ invitation_id: pathId }),
        response: {
          204: z.null().describe('Withdrawn'),
          ...commonErrors,
          409: problemSchema.describe('The invitation is already accepted, declined or withdrawn'),
        },
      },
    },
    async (request, reply) => {
      const { email, role: offered } = await invitations.withdraw(principalOf(request).teamId, request.params.invitation_id);
      request.auditDetail = `withdrawn, for ${email} as ${offered}`;
      return reply.code(204).send(null);
    },
  );
}

function present(invitation: Invitation, invitations: InvitationsService): z.infer<typeof invitationSchema> {
  return {
    id: invitation.id,
    email: invitation.email,
    role: invitation.role,
    state: invitations.stateOf(invitation),
    invited_by: invitation.inviter.name,
    created_at: toDateTime(invitation.createdAt),
    expires_at: toDateTime(invitation.expiresAt),
  };
}
