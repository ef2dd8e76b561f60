import { z } from 'zod';
import { ROLES } from '../core/principal.ts';
import type { App } from '../http/app.ts';
import { checkGrant, principalOf } from '../http/authentication.ts';
import { commonErrors, dateTime, envelope, success, toDateTime } from '../http/envelope.ts';
import { problemSchema } from '../http/error-handler.ts';
import { nameField, pathId } from '../http/fields.ts';
import { linkNext, pageQuery, readPage } from '../http/pagination.ts';
import type { TeamsService } from './service.ts';
import type { Member, Site } from './types.ts';

/** Longest name in the IANA database is under 40 characters. */
const LONGEST_ZONE = 100;
/** RFC 5321. */
const LONGEST_EMAIL = 254;

const siteFields = {
  time_zone: z.string().max(LONGEST_ZONE).nullable().describe('IANA name').meta({ examples: ['Europe/Madrid'] }),
  latitude: z.number().min(-90).max(90).nullable().describe('Degrees, north is positive').meta({ examples: [40.4168] }),
  longitude: z.number().min(-180).max(180).nullable().describe('Degrees, east is positive').meta({ examples: [-3.7038] }),
};
const newSiteBody = z
  .object({ name: nameField.meta({ examples: ['Depot'] }), ...siteFields })
  .partial({ time_zone: true, latitude: true, longitude: true })
  .meta({ id: 'NewSite' });
const siteChangeBody = newSiteBody.partial().meta({ id: 'SiteChange' });
const siteSchema = z.object({ id: z.string(), name: z.string(), ...siteFields, created_at: dateTime }).meta({ id: 'Site' });
const siteParams = z.object({ site_id: pathId });

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
    id: z.string().describe('Id of the person: what groups name as a recipient'),
    email: z.string(),
    role,
    active: z.boolean(),
    created_at: dateTime,
  })
  .meta({ id: 'Member', examples: [memberExample] });
const invitedSchema = memberSchema
  .extend({
    generated_password: z
      .string()
      .nullable()
      .describe('Shown only here. Null for somebody who has an account already, with a password of their own'),
  })
  .meta({ id: 'InvitedMember', examples: [{ ...memberExample, generated_password: 'x'.repeat(20) }] });

const nameInUse = { 409: problemSchema.describe('The team has a site of this name') };

/** Sites, and the people of the team. */
export function teamRoutes(app: App, deps: { teams: TeamsService }): void {
  siteReading(app, deps.teams);
  siteWriting(app, deps.teams);
  siteDeletion(app, deps.teams);
  memberList(app, deps.teams);
  invitation(app, deps.teams);
  memberChange(app, deps.teams);
  passwordReset(app, deps.teams);
}

function siteReading(app: App, teams: TeamsService): void {
  app.get(
    '/api/sites',
    {
      schema: {
        tags: ['sites'],
        summary: 'List the sites of the team, newest first',
        querystring: pageQuery,
        response: { 200: envelope(z.array(siteSchema)), ...commonErrors },
      },
    },
    async (request, reply) => {
      const page = readPage(request.query);
      const sites = await teams.listSites(principalOf(request).teamId, page);
      linkNext(request, reply, page, sites, (site) => ({ at: site.createdAt, id: site.id }));
      return success(sites.map(presentSite));
    },
  );
  app.get(
    '/api/sites/:site_id',
    {
      schema: {
        tags: ['sites'],
        summary: 'Read one site',
        params: siteParams,
        response: { 200: envelope(siteSchema), ...commonErrors },
      },
    },
    async (request) => success(presentSite(await teams.getSite(principalOf(request).teamId, request.params.site_id))),
  );
}

function siteWriting(app: App, teams: TeamsService): void {
  app.post(
    '/api/sites',
    {
      config: { role: 'admin' },
      schema: {
        tags: ['sites'],
        summary: 'Create a site',
        body: newSiteBody,
        response: { 200: envelope(siteSchema), ...commonErrors, ...nameInUse },
      },
    },
    async (request) => {
      const { name, time_zone: timeZone, latitude, longitude } = request.body;
      const { teamId } = principalOf(request);
      return success(presentSite(await teams.createSite({ teamId, name, timeZone, latitude, longitude })));
    },
  );
  app.patch(
    '/api/sites/:site_id',
    {
      config: { role: 'admin' },
      schema: {
        tags: ['sites'],
        summary: 'Change a site; what is not given stays',
        params: siteParams,
        body: siteChangeBody,
        response: { 200: envelope(siteSchema), ...commonErrors, ...nameInUse },
      },
    },
    async (request) => {
      const { name, time_zone: timeZone, latitude, longitude } = request.body;
      const change = { name, timeZone, latitude, longitude };
      return success(presentSite(await teams.changeSite(principalOf(request).teamId, request.params.site_id, change)));
    },
  );
}

function siteDeletion(app: App, teams: TeamsService): void {
  app.delete(
    '/api/sites/:site_id',
    {
      config: { role: 'admin' },
      schema: {
        tags: ['sites'],
        summary: 'Delete a site; it leaves every notification group',
        params: siteParams,
        response: {
          204: z.null().describe('Deleted'),
          ...commonErrors,
          409: problemSchema.describe('Routers or agents stand in it'),
        },
      },
    },
    async (request, reply) => {
      await teams.deleteSite(principalOf(request).teamId, request.params.site_id);
      return reply.code(204).send(null);
    },
  );
}

function memberList(app: App, teams: TeamsService): void {
  app.get(
    '/api/members',
    {
      schema: {
        tags: ['members'],
        summary: 'List the people of the team, newest first, those switched off included',
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

function invitation(app: App, teams: TeamsService): void {
  app.post(
    '/api/members',
    {
      config: { role: 'admin', secretAnswer: true },
      schema: {
        tags: ['members'],
        operationId: 'inviteMember',
        summary: 'Make a person a member of the team',
        description: 'Somebody new gets an account with a generated password, which is shown only in this answer.',
        body: z
          .object({ email: z.string().max(LONGEST_EMAIL).meta({ examples: ['ada@example.org'] }), role })
          .meta({ id: 'NewMember' }),
        response: {
          200: envelope(invitedSchema),
          ...commonErrors,
          409: problemSchema.describe('A member of this team already'),
        },
      },
    },
    async (request, reply) => {
      checkGrant(request, request.body.role);
      const { member, generatedPassword } = await teams.createUser({ teamId: principalOf(request).teamId, invited: true, ...request.body });
      reply.header('cache-control', 'no-store');
      return success({ ...presentMember(member), generated_password: generatedPassword });
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
        summary: "Change a member's role, or switch a member off and on",
        description: 'A member who is switched off can do nothing in this team and is told nothing; API keys they made stay.',
        params: z.object({ member_id: pathId }),
        body: z.object({ role: role.optional(), active: z.boolean().optional() }).meta({ id: 'MemberChange' }),
        response: {
          200: envelope(memberSchema),
          ...commonErrors,
          409: problemSchema.describe('The team would have no active administrator left'),
        },
      },
    },
    async (request) => {
      if (request.body.role !== undefined) checkGrant(request, request.body.role);
      return success(presentMember(await teams.changeMember(principalOf(request).teamId, request.params.member_id, request.body)));
    },
  );
}

function passwordReset(app: App, teams: TeamsService): void {
  app.post(
    '/api/members/:member_id/password',
    {
      config: { role: 'admin', secretAnswer: true },
      schema: {
        tags: ['members'],
        operationId: 'resetMemberPassword',
        summary: 'Give a member who has lost the password a generated one',
        description: 'Shown only in this answer. Every session of the member is over.',
        params: z.object({ member_id: pathId }),
        response: {
          200: envelope(invitedSchema),
          ...commonErrors,
          409: problemSchema.describe('The member belongs to another team too'),
        },
      },
    },
    async (request, reply) => {
      const { member, password } = await teams.resetPassword(principalOf(request).teamId, request.params.member_id);
      reply.header('cache-control', 'no-store');
      return success({ ...presentMember(member), generated_password: password });
    },
  );
}

function presentSite(site: Site): z.infer<typeof siteSchema> {
  return {
    id: site.id,
    name: site.name,
    time_zone: site.timeZone,
    latitude: site.latitude,
    longitude: site.longitude,
    created_at: toDateTime(site.createdAt),
  };
}

function presentMember(member: Member): z.infer<typeof memberSchema> {
  return {
    id: member.userId,
    email: member.email,
    role: member.role,
    active: member.active,
    created_at: toDateTime(member.createdAt),
  };
}
