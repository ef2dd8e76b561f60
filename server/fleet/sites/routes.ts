import { z } from 'zod';
import type { App } from '../../platform/http/app.ts';
import { principalOf } from '../../platform/http/authentication.ts';
import { commonErrors, dateTime, envelope, success, toDateTime } from '../../platform/http/envelope.ts';
import { problemSchema } from '../../platform/http/error-handler.ts';
import { nameField, pathId } from '../../platform/http/fields.ts';
import { linkNext, pageQuery, readPage } from '../../platform/http/pagination.ts';
import type { SitesService } from './service.ts';
import type { Site } from './types.ts';

/** The longest name in the IANA database is under 40 characters. */
const LONGEST_ZONE = 100;

const siteFields = {
  time_zone: z
    .string()
    .max(LONGEST_ZONE)
    .nullable()
    .describe('IANA name')
    .meta({ examples: ['Europe/Madrid'] }),
  latitude: z
    .number()
    .min(-90)
    .max(90)
    .nullable()
    .describe('Degrees, north is positive')
    .meta({ examples: [40.4168] }),
  longitude: z
    .number()
    .min(-180)
    .max(180)
    .nullable()
    .describe('Degrees, east is positive')
    .meta({ examples: [-3.7038] }),
};
const newSiteBody = z
  .object({ name: nameField.meta({ examples: ['Depot'] }), ...siteFields })
  .partial({ time_zone: true, latitude: true, longitude: true })
  .meta({ id: 'NewSite' });
const siteChangeBody = newSiteBody.partial().meta({ id: 'SiteChange' });
const siteSchema = z.object({ id: z.string(), name: z.string(), ...siteFields, created_at: dateTime }).meta({ id: 'Site' });
const siteParams = z.object({ site_id: pathId });

const nameInUse = { 409: problemSchema.describe('The team already has a site with this name') };

/** The sites of the team. */
export function siteRoutes(app: App, sites: SitesService): void {
  siteReading(app, sites);
  siteWriting(app, sites);
  siteDeletion(app, sites);
}

function siteReading(app: App, sites: SitesService): void {
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
      const found = await sites.list(principalOf(request).teamId, page);
      linkNext(request, reply, page, found, (site) => ({ at: site.createdAt, id: site.id }));
      return success(found.map(presentSite));
    },
  );
  app.get(
    '/api/sites/:site_id',
    { schema: { tags: ['sites'], summary: 'Read one site', params: siteParams, response: { 200: envelope(siteSchema), ...commonErrors } } },
    async (request) => success(presentSite(await sites.get(principalOf(request).teamId, request.params.site_id))),
  );
}

function siteWriting(app: App, sites: SitesService): void {
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
      request.auditDetail = name;
      return success(presentSite(await sites.create({ teamId, name, timeZone, latitude, longitude })));
    },
  );
  app.patch(
    '/api/sites/:site_id',
    {
      config: { role: 'admin' },
      schema: {
        tags: ['sites'],
        summary: 'Change a site; missing fields stay unchanged',
        params: siteParams,
        body: siteChangeBody,
        response: { 200: envelope(siteSchema), ...commonErrors, ...nameInUse },
      },
    },
    async (request) => {
      const { name, time_zone: timeZone, latitude, longitude } = request.body;
      const change = { name, timeZone, latitude, longitude };
      const site = await sites.change(principalOf(request).teamId, request.params.site_id, change);
      request.auditDetail = site.name;
      return success(presentSite(site));
    },
  );
}

function siteDeletion(app: App, sites: SitesService): void {
  app.delete(
    '/api/sites/:site_id',
    {
      config: { role: 'admin' },
      schema: {
        tags: ['sites'],
        summary: 'Delete a site and remove it from every notification group',
        params: siteParams,
        response: {
          204: z.null().describe('Deleted'),
          ...commonErrors,
          409: problemSchema.describe('The site still has routers or agents'),
        },
      },
    },
    async (request, reply) => {
      const { teamId } = principalOf(request);
      request.auditDetail = (await sites.get(teamId, request.params.site_id)).name;
      await sites.delete(teamId, request.params.site_id);
      return reply.code(204).send(null);
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
