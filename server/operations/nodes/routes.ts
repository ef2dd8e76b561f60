import { z } from 'zod';
import type { App } from '../../platform/http/app.ts';
import { commonErrors, dateTime, envelope, success, toDateTime } from '../../platform/http/envelope.ts';
import { problemSchema } from '../../platform/http/error-handler.ts';
import { pathId } from '../../platform/http/fields.ts';
import type { NodesService } from './service.ts';
import type { NodeView } from './types.ts';

const nodeExample = {
  id: '01a1fb8f-7c1e-7d10-9b52-6f0c8e2a4d31',
  name: 'web-1, process 4711',
  public_url: 'https://node-1.signalbox.example.net',
  version: '1.4.0',
  state: 'up' as const,
  tunnels: 1840,
  clients: 12,
  bus_connected: true,
  beat_age_seconds: 0.8,
  started_at: '2031-05-01T08:30:00.000Z',
  answers: true,
};
const nodeSchema = z
  .object({
    id: z.string().describe('New at each start'),
    name: z.string().describe('Where it runs: `web-1, process 4711`'),
    public_url: z.string().nullable().describe('How agents reach it; null for one that serves the database alone'),
    version: z.string(),
    state: z.enum(['up', 'draining']),
    tunnels: z.int().describe('Its agents, as of its last beat'),
    clients: z.int().describe('Connections of forwards, event streams and attached terminals, as of its last beat'),
    bus_connected: z.boolean().describe('As of its last beat'),
    beat_age_seconds: z.number().nullable().describe('How long ago the one that answers saw its beat change; null before that'),
    started_at: dateTime,
    answers: z.boolean().describe('Whether it is the one that answers this request'),
  })
  .meta({ id: 'ControlPlane', examples: [nodeExample] });

const strangers = {
  401: problemSchema.describe('No service token'),
  429: problemSchema.describe('Too many attempts without a service token'),
};
const changed = {
  200: envelope(nodeSchema),
  404: problemSchema.describe('No such control plane'),
  409: problemSchema.describe('It serves the database alone, or no other one takes work'),
};
const nodeParams = z.object({ node_id: pathId });

interface Services {
  nodes: NodesService;
}

/** For a scope that admits service tokens only: control planes belong to no team. */
export function internalNodeRoutes(scope: App, { nodes }: Services): void {
  const changes = { ...strangers, ...changed };
  scope.get(
    '/internal/nodes',
    { schema: { hide: true, summary: 'List the control planes', response: { 200: envelope(z.array(nodeSchema)), ...strangers } } },
    async () => success((await nodes.list()).map(toNode)),
  );
  scope.post(
    '/internal/nodes/:node_id/drain',
    { schema: { hide: true, summary: 'Have a control plane give its work to the others', params: nodeParams, response: changes } },
    async ({ params }) => success(toNode(await nodes.setDraining(params.node_id, true))),
  );
  scope.delete(
    '/internal/nodes/:node_id/drain',
    { schema: { hide: true, summary: 'Have a control plane take work again', params: nodeParams, response: changes } },
    async ({ params }) => success(toNode(await nodes.setDraining(params.node_id, false))),
  );
}

/** The same for people who administer the installation. */
export function nodeRoutes(app: App, { nodes }: Services): void {
  const [tags, config] = [['nodes'], { installation: true as const }];
  const changes = { ...commonErrors, ...changed };
  app.get(
    '/api/nodes',
    {
      config,
      schema: {
        tags,
        summary: 'List the control planes that serve the database; none on SQLite',
        description: 'For administrators of the installation only, whatever their role in the team.',
        response: { 200: envelope(z.array(nodeSchema)), ...commonErrors },
      },
    },
    async () => success((await nodes.list()).map(toNode)),
  );
  app.post(
    '/api/nodes/:node_id/drain',
    {
      config,
      schema: {
        tags,
        operationId: 'drainNode',
        summary: 'Have a control plane give its agents and its work to the others',
        description: 'It obeys within about two seconds, and goes on until it is stopped.',
        params: nodeParams,
        response: changes,
      },
    },
    async ({ params }) => success(toNode(await nodes.setDraining(params.node_id, true))),
  );
  app.delete(
    '/api/nodes/:node_id/drain',
    {
      config,
      schema: {
        tags,
        operationId: 'resumeNode',
        summary: 'Have a control plane take agents and work again',
        params: nodeParams,
        response: changes,
      },
    },
    async ({ params }) => success(toNode(await nodes.setDraining(params.node_id, false))),
  );
}

function toNode({ id, name, publicUrl, version, state, tunnels, clients, isOnBus, beatAgeMs, startedAt, isOwn }: NodeView) {
  return {
    id,
    name,
    public_url: publicUrl,
    version,
    state,
    tunnels,
    clients,
    bus_connected: isOnBus,
    beat_age_seconds: beatAgeMs === null ? null : Math.round(beatAgeMs / 100) / 10,
    started_at: toDateTime(startedAt),
    answers: isOwn,
  };
}
