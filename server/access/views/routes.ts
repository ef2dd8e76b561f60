import { z } from 'zod';
import type { App } from '../../platform/http/app.ts';
import { principalOf } from '../../platform/http/authentication.ts';
import { commonErrors, dateTime, envelope, success, toDateTime } from '../../platform/http/envelope.ts';
import { problemSchema } from '../../platform/http/error-handler.ts';
import { nameField, pathId, textField } from '../../platform/http/fields.ts';
import { linkNext, pageQuery, readPage } from '../../platform/http/pagination.ts';
import type { ViewsService } from './service.ts';
import { VIEWED_LISTS } from './types.ts';
import type { SavedView } from './types.ts';

/** More than any list has parameters. */
const MOST_PARAMETERS = 30;
/** Some fifty ids, as a filter may have. */
const PARAMETER_CHARS = 2000;
/** All together; a longer address of a list is too long for many proxies. 5,000 people with 100 views each have 4 GB. */
const MOST_QUERY_BYTES = 8000;

const parameters = z
  .record(z.string().regex(/^[a-z_]{1,40}$/, 'must be the name of a parameter'), textField(PARAMETER_CHARS))
  .refine((query) => Object.keys(query).length <= MOST_PARAMETERS, `must have at most ${MOST_PARAMETERS} parameters`)
  .refine((query) => Buffer.byteLength(JSON.stringify(query)) <= MOST_QUERY_BYTES, `must have at most ${MOST_QUERY_BYTES} bytes as JSON`)
  .describe('Parameters of the list, as in its address')
  .meta({ examples: [{ state: 'agent_away', sort: '-state_since' }] });

const newViewBody = z
  .object({
    list: z.enum(VIEWED_LISTS),
    name: nameField.meta({ examples: ['Away for long'] }),
    query: parameters,
    shared: z.boolean().optional().describe('True: a view of the team, for which you need the role operator. Otherwise it is your own'),
  })
  .meta({ id: 'NewView' });
const viewChangeBody = z.object({ name: nameField.optional(), query: parameters.optional() }).meta({ id: 'ViewChange' });
const viewSchema = z
  .object({
    id: z.string(),
    list: z.enum(VIEWED_LISTS),
    name: z.string(),
    query: z.record(z.string(), z.string()),
    shared: z.boolean().describe('Of the team; otherwise your own'),
    created_at: dateTime,
    updated_at: dateTime,
  })
  .meta({
    id: 'View',
    examples: [
      {
        id: '01a1fba0-5b1e-7354-a8b1-996d0b28db1a',
        list: 'routers',
        name: 'Away for long',
        query: { state: 'agent_away', sort: '-state_since' },
        shared: true,
        created_at: '2031-05-01T08:30:00.000Z',
        updated_at: '2031-05-01T08:30:00.000Z',
      },
    ],
  });
const viewParams = z.object({ view_id: pathId });
const viewQuery = pageQuery.extend({ list: z.enum(VIEWED_LISTS).optional().describe('Views of this list only') });

const tags = ['account'];
const conflict = { 409: problemSchema.describe('There is already a view with this name, or there are too many') };

export function viewRoutes(app: App, { views }: { views: ViewsService }): void {
  readViews(app, views);
  writeViews(app, views);
}

function readViews(app: App, views: ViewsService): void {
  app.get(
    '/api/views',
    {
      schema: {
        tags,
        operationId: 'listViews',
        summary: 'List the saved filters of the team and your own, newest first',
        querystring: viewQuery,
        response: { 200: envelope(z.array(viewSchema)), ...commonErrors },
      },
    },
    async (request, reply) => {
      const page = readPage(request.query);
      const found = await views.list(principalOf(request), request.query.list, page);
      linkNext(request, reply, page, found, (view) => ({ at: view.createdAt, id: view.id }));
      return success(found.map(present));
    },
  );
  app.get(
    '/api/views/:view_id',
    {
      schema: {
        tags,
        operationId: 'getView',
        summary: 'Read one saved filter',
        params: viewParams,
        response: { 200: envelope(viewSchema), ...commonErrors },
      },
    },
    async (request) => success(present(await views.get(principalOf(request), request.params.view_id))),
  );
}

function writeViews(app: App, views: ViewsService): void {
  app.post(
    '/api/views',
    {
      schema: {
        tags,
        operationId: 'createView',
        summary: 'Save a filter of a list, for yourself or for the team',
        body: newViewBody,
        response: { 200: envelope(viewSchema), ...commonErrors, ...conflict },
      },
    },
    async (request) => {
      const { list, name, query, shared: isShared = false } = request.body;
      request.auditDetail = name;
      return success(present(await views.create(principalOf(request), { list, name, query, isShared })));
    },
  );
  app.patch(
    '/api/views/:view_id',
    {
      schema: {
        tags,
        operationId: 'changeView',
        summary: 'Change a saved filter; missing fields stay unchanged',
        params: viewParams,
        body: viewChangeBody,
        response: { 200: envelope(viewSchema), ...commonErrors, ...conflict },
      },
    },
    async (request) => success(present(await views.change(principalOf(request), request.params.view_id, request.body))),
  );
  app.delete(
    '/api/views/:view_id',
    {
      schema: {
        tags,
        operationId: 'deleteView',
        summary: 'Delete a saved filter',
        params: viewParams,
        response: { 204: z.null().describe('Deleted'), ...commonErrors },
      },
    },
    async (request, reply) => {
      await views.delete(principalOf(request), request.params.view_id);
      return reply.code(204).send(null);
    },
  );
}

function present({ id, list, name, query, userId, createdAt, updatedAt }: SavedView): z.infer<typeof viewSchema> {
  return { id, list, name, query, shared: userId === null, created_at: toDateTime(createdAt), updated_at: toDateTime(updatedAt) };
}
