import { z } from 'zod';
import { AppError } from '../../../platform/core/errors.ts';
import { ROLES } from '../../../platform/core/principal.ts';
import type { App } from '../../../platform/http/app.ts';
import { checkGrant, principalOf } from '../../../platform/http/authentication.ts';
import { commonErrors, dateTime, envelope, success, toDateTime } from '../../../platform/http/envelope.ts';
import { problemSchema } from '../../../platform/http/error-handler.ts';
import { pathId } from '../../../platform/http/fields.ts';
import { linkNext, pageQuery, readPage } from '../../../platform/http/pagination.ts';
import type { PasswordLinksService } from '../password-links/service.ts';
import type { TeamsService } from '../service.ts';
import { linkTo, PASSWORD_PATH } from '../types.ts';
import type { Member } from '../types.ts';

const memberExample = {
  id: '01a1fb9c-376e-7279-a064-482cecad7b5b',
  email: 'ada@example.org',
  role: 'operator' as const,
  active: true,
  created_at: '2031-05-01T08:30:00.000Z',
};
const role = z.enum(ROLES);
const memberSchema = z
  .object({
    id: z.string().describe('Id of the person, as in the recipients of notification groups'),
    email: z.string(),
    role,
    active: z.boolean(),
    created_at: dateTime,
  })
  .meta({ id: 'Member', examples: [memberExample] });
const resetSchema = memberSchema
  .extend({
    password_link: z
      .object({ url: z.string().describe('Shown only in this answer; works once'), expires_at: dateTime })
      .describe('Link for the member: its holder can set the password'),
  })
  .meta({
    id: 'MemberWithPasswordLink',
    examples: [
      {
        ...memberExample,
        password_link: { url: `https://signalbox.example.net/set-password/${'x'.repeat(40)}`, expires_at: '2031-05-02T08:30:00.000Z' },
      },
    ],
  });

export interface MemberRoutesDeps {
  teams: TeamsService;
  passwordLinks: PasswordLinksService;
  /** The public URL, without a slash at the end; set once the server listens. */
  baseUrl: () => string;
}

const lastAdministrator = { 409: problemSchema.describe('The team would have no active administrator left') };

/** Routes for the members of a team. */
export function memberRoutes(app: App, { teams, ...deps }: MemberRoutesDeps): void {
  memberList(app, teams);
  memberChange(app, teams);
  memberRemoval(app, teams);
  passwordReset(app, deps);
  leaving(app, teams);
}

function memberList(app: App, teams: TeamsService): void {
  app.get(
    '/api/members',
    {
      schema: {
        tags: ['members'],
        summary: 'List the members of the team, inactive ones included, newest first',
        querystring: pageQuery,
        response: { 200: envelope(z.array(memberSchema)), ...commonErrors },
      },
    },
    async (request, reply) => {
      const page = readPage(request.query);
      const members = await teams.listMembers(principalOf(request).teamId, page);
      linkNext(request, reply, page, members, (member) => ({ at: member.createdAt, id: member.userId }));
      return success(members.map(presentMember));
    },
  );
}

function memberChange(app: App, teams: TeamsService): void {
  app.patch(
    '/api/members/:member_id',
    {
      config: { role: 'admin' },
      schema: {
        tags: ['members'],
        summary: "Change a member's role, or deactivate or reactivate a member",
        description:
          'An inactive member has no access to this team and gets no notifications. What they opened ends; their API keys stay valid.',
        params: z.object({ member_id: pathId }),
        body: z.object({ role: role.optional(), active: z.boolean().optional() }).meta({ id: 'MemberChange' }),
        response: { 200: envelope(memberSchema), ...commonErrors, ...lastAdministrator },
      },
    },
    async (request) => {
      if (request.body.role !== undefined) checkGrant(request, request.body.role);
      const member = await teams.changeMember(principalOf(request).teamId, request.params.member_id, request.body);
      request.auditDetail = `${member.email}, ${member.active ? `now ${member.role}` : 'switched off'}`;
      return success(presentMember(member));
    },
  );
}

function passwordReset(app: App, { passwordLinks, baseUrl }: Omit<MemberRoutesDeps, 'teams'>): void {
  app.post(
    '/api/members/:member_id/password',
    {
      config: { role: 'admin', secretAnswer: true },
      schema: {
        tags: ['members'],
        operationId: 'resetMemberPassword',
        summary: 'Create a password link for a member who has lost their password',
        description:
          'The link works once, within a day. The old password stays valid until then. The new one ends all sessions of the member.',
        params: z.object({ member_id: pathId }),
        response: {
          200: envelope(resetSchema),
          ...commonErrors,
          409: problemSchema.describe('The member also belongs to another team, or administers the installation'),
        },
      },
    },
    async (request, reply) => {
      const { teamId, kind, id } = principalOf(request);
      const { member, code, expiresAt } = await passwordLinks.create(teamId, request.params.member_id, { kind, id });
      request.auditDetail = `password link for ${member.email}`;
      reply.header('cache-control', 'no-store');
      const link = { url: linkTo(PASSWORD_PATH, baseUrl(), code), expires_at: toDateTime(expiresAt) };
      return success({ ...presentMember(member), password_link: link });
    },
  );
}

function memberRemoval(app: App, teams: TeamsService): void {
  app.delete(
    '/api/members/:member_id',
    {
      config: { role: 'admin' },
      schema: {
        tags: ['members'],
        operationId: 'removeMember',
        summary: 'Remove a member from the team',
        description: 'Ends their sessions in this team and removes them from notification groups. Their account and their API keys stay.',
        params: z.object({ member_id: pathId }),
        response: { 204: z.null().describe('Removed'), ...commonErrors, ...lastAdministrator },
      },
    },
    async (request, reply) => {
      const { email, role: lost } = await teams.removeMember(principalOf(request).teamId, request.params.member_id);
      request.auditDetail = `removed ${email}, who was ${lost}`;
      return reply.code(204).send(null);
    },
  );
}

function leaving(app: App, teams: TeamsService): void {
  app.delete(
    '/api/me/membership',
    {
      schema: {
        tags: ['account'],
        operationId: 'leaveTeam',
        summary: 'Leave the team of this session',
        description: 'Ends your sessions in this team, including this one. Your account and its other teams stay.',
        response: { 204: z.null().describe('Left'), ...commonErrors, ...lastAdministrator },
      },
    },
    async (request, reply) => {
      const principal = principalOf(request);
      if (principal.kind !== 'user') throw new AppError('forbidden', 'an API key is not a member: revoke it instead');
      if (principal.clientId !== undefined) throw new AppError('forbidden', 'a client that acts for a user cannot leave the team for them');
      const { email, role: lost } = await teams.removeMember(principal.teamId, principal.id);
      request.auditDetail = `${email} left, who was ${lost}`;
      return reply.code(204).send(null);
    },
  );
}

function presentMember(member: Member): z.infer<typeof memberSchema> {
  return { id: member.userId, email: member.email, role: member.role, active: member.active, created_at: toDateTime(member.createdAt) };
}
