import { z } from 'zod';
import type { App } from '../../platform/http/app.ts';
import { principalOf } from '../../platform/http/authentication.ts';
import { commonErrors, envelope, routerParams, success } from '../../platform/http/envelope.ts';
import type { MetadataService } from './service.ts';
import type { RouterMetadata } from './types.ts';

/** docs/interface.md, metadata; null for what is not known. */
const metadataSchema = z
  .object({
    name: z.string(),
    timezone: z.string().nullable(),
    boardname: z.string(),
    model: z.string().nullable(),
    hardware_board: z.boolean(),
    banner_img: z.string().nullable(),
    thumbnail_img: z.string().nullable(),
    slug: z.string().nullable(),
    last_seen_from: z.string().nullable(),
    lat: z.number().nullable(),
    lng: z.number().nullable(),
    location_origin: z.enum(['site', 'gps']).nullable().describe('Where lat and lng come from'),
    tunnel_ip: z
      .string()
      .nullable()
      .describe("Source address of the agent's tunnel, as the control plane sees it; null while the agent is not connected"),
  })
  .meta({
    id: 'RouterMetadata',
    examples: [
      {
        name: 'gw-depot',
        timezone: 'Europe/Madrid',
        boardname: 'hAP ac^2',
        model: 'RBD52G-5HacD2HnD',
        hardware_board: true,
        banner_img: null,
        thumbnail_img: null,
        slug: 'hap_ac2',
        last_seen_from: '203.0.113.7',
        lat: 40.4168,
        lng: -3.7038,
        location_origin: 'site',
        tunnel_ip: '203.0.113.7',
      },
    ],
  });

export function metadataRoutes(app: App, deps: { metadata: Pick<MetadataService, 'getMetadata'> }): void {
  app.get(
    '/api/routers/:router_id/metadata',
    {
      schema: {
        tags: ['routers'],
        operationId: 'getRouterMetadata',
        summary: 'Read the location of a router and the address it is reached from',
        params: routerParams,
        response: { 200: envelope(metadataSchema), ...commonErrors },
      },
    },
    async (request) => {
      const { teamId } = principalOf(request);
      return success(present(await deps.metadata.getMetadata(teamId, request.params.router_id)));
    },
  );
}

function present(metadata: RouterMetadata): z.infer<typeof metadataSchema> {
  return {
    name: metadata.name,
    timezone: metadata.timeZone,
    boardname: metadata.boardName,
    model: metadata.model,
    hardware_board: metadata.hardwareBoard,
    banner_img: metadata.banner,
    thumbnail_img: metadata.thumbnail,
    slug: metadata.slug,
    last_seen_from: metadata.lastSeenFrom,
    lat: metadata.location?.latitude ?? null,
    lng: metadata.location?.longitude ?? null,
    location_origin: metadata.location?.origin ?? null,
    tunnel_ip: metadata.tunnelAddress,
  };
}
