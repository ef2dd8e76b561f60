import { z } from 'zod';
import type { App } from '../../platform/http/app.ts';
import { principalOf } from '../../platform/http/authentication.ts';
import { commonErrors, envelope, routerParams, success } from '../../platform/http/envelope.ts';
import type { RoutersService } from '../routers/service.ts';
import type { CatalogService } from './service.ts';
import { TEXT_COLUMNS } from './types.ts';
import type { TextColumn } from './types.ts';

const text = z.string().nullable();
const texts = Object.fromEntries(TEXT_COLUMNS.map((column) => [column, text])) as Record<TextColumn, typeof text>;

/** docs/interface.md, product. Null: unknown, or several products match the router and differ in this fact. */
const oemSchema = z.object({ ...texts, archived: z.boolean().nullable() }).meta({ id: 'RouterOem' });

export function catalogRoutes(app: App, deps: { catalog: CatalogService; routers: Pick<RoutersService, 'getRouter'> }): void {
  app.get(
    '/api/routers/:router_id/oem',
    {
      schema: {
        tags: ['routers'],
        operationId: 'getRouterOem',
        summary: "Read the maker's information on a router",
        params: routerParams,
        response: { 200: envelope(oemSchema), ...commonErrors },
      },
    },
    async (request) => {
      const router = await deps.routers.getRouter(principalOf(request).teamId, request.params.router_id, { orRemoved: true });
      return success(deps.catalog.describe({ model: router.model, boardName: router.board_name }));
    },
  );
}
