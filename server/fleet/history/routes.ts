import { z } from 'zod';
import type { App } from '../../platform/http/app.ts';
import { principalOf } from '../../platform/http/authentication.ts';
import { commonErrors, dateTime, envelope, routerParams, success, toDateTime, toDateTimeOrNull } from '../../platform/http/envelope.ts';
import { momentField, pathId } from '../../platform/http/fields.ts';
import { linkNext, pageQuery, readPage } from '../../platform/http/pagination.ts';
import type { HistoryService, NamedItem } from './service.ts';
import { AGENT_HISTORY_KINDS, HISTORY_KINDS } from './types.ts';

/** About what a screen shows: every kind is read up to this number. */
const USUAL_LIMIT = 100;

const itemSchema = z
  .object({
    id: z.string(),
    kind: z.enum(HISTORY_KINDS),
    at: dateTime.describe('When it began'),
    until: dateTime.nullable().describe('Null: it continues, it has no duration, or its end is unknown'),
    status: z
      .string()
      .describe(
        'state: the state; session: `open` or how it ended; fault: the severity; job: its status; forward: `open` or `closed`; ' +
          'terminal: `open` or how it ended; backup: its state; action: the HTTP status of the answer; unknown: `unknown`',
      ),
    title: z
      .string()
      .describe(
        'Text; for an action its method and route and, after a colon, what the audit log says of it, for a job its description, for a terminal its level and reason',
      ),
    by: z
      .string()
      .nullable()
      .describe(
        'Name of the API key or agent, or email address of the person that did it; null for callers who may not read the audit log',
      ),
    link: z.string().nullable().describe('Path in this API with more details'),
  })
  .meta({
    id: 'HistoryItem',
    examples: [
      {
        id: '01a1fba3-2c11-7d2c-9f0e-3a1c5e7b9d24',
        kind: 'state',
        at: '2031-05-01T08:30:00.000Z',
        until: '2031-05-01T08:32:10.000Z',
        status: 'not_answering',
        title: 'not_answering: refused',
        by: null,
        link: null,
      },
    ],
  });

const listOf = <Kind extends string>(kinds: readonly Kind[]) =>
  z
    .preprocess((value) => (typeof value === 'string' ? value.split(',') : value), z.array(z.enum(kinds)).min(1).max(kinds.length))
    .optional();

const times = {
  from: momentField.optional().describe('Only records that began at that time or later'),
  to: momentField.optional().describe('Only records that began before that time'),
};

const routerQuery = pageQuery.extend({
  kind: listOf(HISTORY_KINDS).describe('Kinds, separated by commas; all when missing. `action` needs the role admin'),
  ...times,
});

const agentQuery = pageQuery.extend({
  kind: listOf(AGENT_HISTORY_KINDS).describe('Kinds, separated by commas; all when missing'),
  ...times,
});

export function historyRoutes(app: App, { history }: { history: Pick<HistoryService, 'list' | 'listOfAgent'> }): void {
  app.get(
    '/api/routers/:router_id/history',
    {
      schema: {
        tags: ['routers'],
        operationId: 'listRouterHistory',
        summary:
          "List what happened to a router, newest first: states, its agent's sessions, faults, jobs, forwards, terminals, backups, people's actions and unknown times",
        params: routerParams,
        querystring: routerQuery,
        response: { 200: envelope(z.array(itemSchema)), ...commonErrors },
      },
    },
    async (request, reply) => {
      const { kind: kinds = [], ...range } = request.query;
      const { page, from, to } = readRange(range);
      const items = await history.list(principalOf(request), request.params.router_id, { kinds, from, to }, page);
      linkNext(request, reply, page, items, ({ at, id }) => ({ at, id }));
      return success(items.map(present));
    },
  );

  app.get(
    '/api/agents/:agent_id/history',
    {
      schema: {
        tags: ['agents'],
        operationId: 'listAgentHistory',
        summary: 'List the sessions of an agent and the times in which no control plane ran, newest first',
        params: z.object({ agent_id: pathId }),
        querystring: agentQuery,
        response: { 200: envelope(z.array(itemSchema)), ...commonErrors },
      },
    },
    async (request, reply) => {
      const { kind: kinds = [], ...range } = request.query;
      const { page, from, to } = readRange(range);
      const items = await history.listOfAgent(principalOf(request), request.params.agent_id, { kinds, from, to }, page);
      linkNext(request, reply, page, items, ({ at, id }) => ({ at, id }));
      return success(items.map(present));
    },
  );
}

type Range = Partial<Record<'from' | 'to' | 'cursor', string | undefined>> & { limit?: number | undefined };

function readRange({ from, to, limit = USUAL_LIMIT, cursor }: Range) {
  return { page: readPage({ limit, cursor }), from: momentOf(from), to: momentOf(to) };
}

function momentOf(text: string | undefined): number | undefined {
  return text === undefined ? undefined : Date.parse(text);
}

function present({ id, kind, at, until, status, title, by, link }: NamedItem): z.infer<typeof itemSchema> {
  return { id, kind, at: toDateTime(at), until: toDateTimeOrNull(until), status, title, by, link };
}
