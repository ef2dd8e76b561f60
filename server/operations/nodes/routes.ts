import { z } from 'zod';
import type { App } from '../../platform/http/app.ts';
import { dateTime, envelope, success, toDateTime } from '../../platform/http/envelope.ts';
import { problemSchema } from '../../platform/http/error-handler.ts';
import { pathId } from '../../platform/http/fields.ts';
import type { NodesService } from './service.ts';
import type { NodeView } from './types.ts';

const nodeSchema = z.object({
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
});

const strangers = {
  401: problemSchema.describe('No service token'),
  429: problemSchema.describe('Too many attempts without a service token'),
};
const changes = {
  200: envelope(nodeSchema),
  ...strangers,
  404: problemSchema.describe('No such control plane'),
  409: problemSchema.describe('It serves the database alone, or no other one takes work'),
};
const nodeParams = z.object({ node_id: pathId });

/** For a scope that admits service tokens only: control planes belong to no team. */
export function nodeRoutes(scope: App, { nodes }: { nodes: NodesService }): void {
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
