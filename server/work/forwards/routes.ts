import { z } from 'zod';
import { AppError } from '../../platform/core/errors.ts';
import type { App } from '../../platform/http/app.ts';
import { principalOf } from '../../platform/http/authentication.ts';
import { commonErrors, dateTime, envelope, routerParams, success, toDateTime, toDateTimeOrNull } from '../../platform/http/envelope.ts';
import { problemSchema } from '../../platform/http/error-handler.ts';
import { pathId } from '../../platform/http/fields.ts';
import { linkNext, pageQuery, readPage } from '../../platform/http/pagination.ts';
import { FORWARD_LIMITS } from './limits.ts';
import { normaliseDestination, normaliseSource } from './policy.ts';
import type { ForwardsService } from './service.ts';
import { timeToExpire } from './time-to-expire.ts';
import type { ForwardRecord, ForwardView } from './types.ts';

/** A text of the wrong length is no address; one error is enough. */
const ENOUGH = { abort: true };

const minutes = z
  .int()
  .min(10)
  .max(1440)
  .meta({ examples: [60] });

const sourceField = (allowPrivate: boolean) =>
  z
    .string()
    .min(1, ENOUGH)
    .max(64, ENOUGH)
    .superRefine(acceptedBy((text) => normaliseSource(text, { allowPrivate })))
    .meta({ examples: ['203.0.113.7', '203.0.113.0/24'] });

/** docs/interface.md, forward; the fields from `idle_seconds` on are additions. */
const bodySchema = ({ allowPrivateSources }: Pick<ForwardRoutesDeps, 'allowPrivateSources'>) =>
  z
    .object({
      expire_after_minutes: minutes,
      dst_port: z
        .int()
        .min(1)
        .max(65_535)
        .meta({ examples: [22] }),
      dst_address: z
        .string()
        .min(1, ENOUGH)
        .max(255, ENOUGH)
        .superRefine(acceptedBy(normaliseDestination))
        .meta({ examples: ['192.168.88.10'] }),
      allow_from: sourceField(allowPrivateSources),
      idle_seconds: z
        .int()
        .min(10)
        .max(86_400)
        .nullable()
        .optional()
        .describe('Ends a connection that is idle for this long; null for never, omitted for the default of this server'),
      max_connections: z.int().min(1).max(FORWARD_LIMITS.connections).optional().describe('Connections at the same time'),
    })
    .meta({ id: 'NewTransientForward' });

const changeSchema = ({ allowPrivateSources }: Pick<ForwardRoutesDeps, 'allowPrivateSources'>) =>
  z
    .object({
      expire_after_minutes: minutes.optional().describe('From now on, not from its creation'),
      allow_from: sourceField(allowPrivateSources).optional().describe('Connections from other sources end'),
    })
    .refine((body) => body.expire_after_minutes !== undefined || body.allow_from !== undefined, {
      message: 'name expire_after_minutes, allow_from or both',
    })
    .meta({ id: 'ForwardChange', examples: [{ expire_after_minutes: 120 }] });

/** The service checks this too. Checked here, the error lists all wrong fields at once. */
function acceptedBy(normalise: (text: string) => string) {
  return (text: string, context: z.RefinementCtx<string>): void => {
    try {
      normalise(text);
    } catch (error) {
      if (!(error instanceof AppError)) throw error;
      for (const message of Object.values(error.errors ?? {}).flat()) context.addIssue({ code: 'custom', message });
    }
  };
}

/** docs/interface.md, forward; the fields from `router_id` on are additions. */
export const forwardSchema = z
  .object({
    id: z.string(),
    port: z.int(),
    revoked_early: z.boolean(),
    allow_only_cidr: z.string(),
    authorized_at: dateTime.nullable(),
    expires_at: dateTime,
    expired: z.boolean(),
    entry_point: z.string(),
    dst_address: z.string(),
    dst_port: z.int(),
    time_to_expire: z.string(),
    router_id: z.string(),
    created_at: dateTime,
    closed_at: dateTime.nullable(),
    way: z.string().nullable(),
    way_reason: z.string().nullable(),
    target_reachable: z.boolean().nullable(),
    refused: z.boolean().describe("The agent's rules forbid the target: the forward will not be opened, and `way_reason` says why"),
    refused_attempts: z.int(),
    open_connections: z.int(),
    connection_count: z.int().describe('Connections so far, including open ones'),
    bytes_in: z.int().describe('From clients to the target, so far'),
    bytes_out: z.int().describe('From the target to clients, so far'),
    idle_seconds: z.int().nullable(),
    max_connections: z.int(),
    entry_name: z
      .string()
      .optional()
      .describe('Server name under which TLS clients also reach the forward; only if the server has a domain for forwards'),
    entry_name_port: z.int().optional(),
  })
  .meta({
    id: 'TransientForward',
    examples: [
      {
        id: '01a1fba0-5b1e-7354-a8b1-996d0b28db1a',
        port: 20417,
        revoked_early: false,
        allow_only_cidr: '203.0.113.7/32',
        authorized_at: '2031-05-01T08:30:01.000Z',
        expires_at: '2031-05-01T09:30:00.000Z',
        expired: false,
        entry_point: 'signalbox.example.org',
        dst_address: '192.168.88.10',
        dst_port: 22,
        time_to_expire: '1 hour from now',
        router_id: '01a1fb9c-376e-7279-a064-482cecad7b5b',
        created_at: '2031-05-01T08:30:00.000Z',
        closed_at: null,
        way: 'ssh',
        way_reason: null,
        target_reachable: true,
        refused: false,
        refused_attempts: 0,
        open_connections: 0,
        connection_count: 0,
        bytes_in: 0,
        bytes_out: 0,
        idle_seconds: null,
        max_connections: 512,
      },
    ],
  });

const forwardParams = routerParams.extend({ id: pathId });
const tags = ['forwards'];

export interface ForwardRoutesDeps {
  forwards: ForwardsService;
  now: () => number;
  /** Whether `allow_from` may be an address that is not public. */
  allowPrivateSources: boolean;
}

export function forwardRoutes(app: App, deps: ForwardRoutesDeps): void {
  createRoute(app, deps);
  readRoutes(app, deps);
  changeRoute(app, deps);
  revokeRoute(app, deps);
}

function createRoute(app: App, { forwards, now, allowPrivateSources }: ForwardRoutesDeps): void {
  app.post(
    '/api/routers/:router_id/transient-forwarding',
    {
      // An earlier forward with the same key is found again, also after a crash.
      config: { role: 'operator', resumable: true },
      schema: {
        tags,
        operationId: 'createForward',
        summary: 'Create a transient port forward',
        description: 'Waits a few seconds for the agent. If the agent takes longer or is offline, authorized_at is null in the answer.',
        params: routerParams,
        body: bodySchema({ allowPrivateSources }),
        response: {
          200: forwardSchema,
          ...commonErrors,
          409: problemSchema.describe('The team or the router has too many open forwards'),
          503: problemSchema.describe('No free port. Retry-After says when the next one is free, if known'),
        },
      },
    },
    async (request) => {
      const { teamId, id, clientId } = principalOf(request);
      const { dst_address: address, dst_port: port, allow_from: source } = request.body;
      // Also of one that is refused.
      request.auditDetail = `to ${addressAndPort(address, port)} for ${source}`;
      const idempotencyKey = request.idempotency?.given === true ? request.idempotency.key : undefined;
      const view = await forwards.create(
        teamId,
        request.params.router_id,
        { id, clientId, idempotencyKey },
        {
          expireAfterMinutes: request.body.expire_after_minutes,
          dstPort: request.body.dst_port,
          dstAddress: request.body.dst_address,
          allowFrom: request.body.allow_from,
          idleSeconds: request.body.idle_seconds,
          maxConnections: request.body.max_connections,
        },
      );
      request.auditDetail = auditedDoor(view.record);
      return presentForward(view, now());
    },
  );
}

/** Which one it was, for the audit log. */
function auditedDoor({ id, dst_address: address, dst_port: port, allow_only_cidr: source }: ForwardRecord): string {
  return `to ${addressAndPort(address, port)} for ${source} (forward ${id})`;
}

function addressAndPort(address: string, port: number): string {
  return address.includes(':') ? `[${address}]:${port}` : `${address}:${port}`;
}

function readRoutes(app: App, { forwards, now }: ForwardRoutesDeps): void {
  app.get(
    '/api/routers/:router_id/transient-forwarding/:id',
    {
      schema: {
        tags,
        operationId: 'getForward',
        summary: 'Read one transient port forward',
        params: forwardParams,
        response: { 200: forwardSchema, ...commonErrors },
      },
    },
    async (request) => {
      const { router_id: routerId, id } = request.params;
      return presentForward(await forwards.get(principalOf(request).teamId, routerId, id), now());
    },
  );
  app.get(
    '/api/routers/:router_id/transient-forwarding',
    {
      schema: {
        tags,
        operationId: 'listForwards',
        summary: 'List the transient port forwards of a router, newest first',
        params: routerParams,
        querystring: pageQuery,
        response: { 200: envelope(z.array(forwardSchema)), ...commonErrors },
      },
    },
    async (request, reply) => {
      const page = readPage(request.query);
      const views = await forwards.list(principalOf(request).teamId, request.params.router_id, page);
      linkNext(request, reply, page, views, ({ record }) => ({ at: record.created_at, id: record.id }));
      return success(views.map((view) => presentForward(view, now())));
    },
  );
}

function changeRoute(app: App, { forwards, now, allowPrivateSources }: ForwardRoutesDeps): void {
  app.patch(
    '/api/routers/:router_id/transient-forwarding/:id',
    {
      // The end counts from the request, so one that was interrupted can run again.
      config: { role: 'operator', resumable: true },
      schema: {
        tags,
        operationId: 'changeForward',
        summary: 'Extend or shorten a transient port forward, or change its source',
        description:
          'Applies at the control plane at once; connections from a source that is no longer allowed end. Waits a few seconds until the agent and the router have the new end.',
        params: forwardParams,
        body: changeSchema({ allowPrivateSources }),
        response: { 200: forwardSchema, ...commonErrors, 409: problemSchema.describe('The forward has ended') },
      },
    },
    async (request) => {
      const { router_id: routerId, id } = request.params;
      const { expire_after_minutes: expireAfterMinutes, allow_from: allowFrom } = request.body;
      const view = await forwards.change(principalOf(request).teamId, routerId, id, { expireAfterMinutes, allowFrom });
      const { record } = view;
      request.auditDetail = `until ${toDateTime(record.expires_at)} for ${record.allow_only_cidr} (forward ${id})`;
      return presentForward(view, now());
    },
  );
}

function revokeRoute(app: App, { forwards }: ForwardRoutesDeps): void {
  app.delete(
    '/api/routers/:router_id/transient-forwarding/:id',
    {
      config: { role: 'operator' },
      schema: {
        tags,
        operationId: 'revokeForward',
        summary: 'Revoke a transient port forward and cut its connections',
        params: forwardParams,
        response: { 204: z.null().describe('Revoked, or it had already ended'), ...commonErrors },
      },
    },
    async (request, reply) => {
      const { teamId } = principalOf(request);
      const { router_id: routerId, id } = request.params;
      request.auditDetail = auditedDoor(await forwards.revoke(teamId, routerId, id));
      return reply.code(204).send(null);
    },
  );
}

export function presentForward(
  { record, openConnections, maxConnections, entryName, ...traffic }: ForwardView,
  now: number,
): z.infer<typeof forwardSchema> {
  return {
    id: record.id,
    port: record.port,
    revoked_early: record.revoked_at !== null,
    allow_only_cidr: record.allow_only_cidr,
    authorized_at: toDateTimeOrNull(record.authorized_at),
    expires_at: toDateTime(record.expires_at),
    expired: record.expires_at <= now,
    entry_point: record.entry_point,
    dst_address: record.dst_address,
    dst_port: record.dst_port,
    // A revoked forward has ended, even if it had time left.
    time_to_expire: record.closed_at === null ? timeToExpire(record.expires_at, now) : 'expired',
    router_id: record.router_id,
    created_at: toDateTime(record.created_at),
    closed_at: toDateTimeOrNull(record.closed_at),
    way: record.way,
    way_reason: record.way_reason,
    target_reachable: record.target_reachable === null ? null : record.target_reachable === 1,
    refused: record.refused === 1,
    refused_attempts: record.refused_attempts,
    open_connections: openConnections,
    connection_count: traffic.connectionCount,
    bytes_in: traffic.bytesIn,
    bytes_out: traffic.bytesOut,
    idle_seconds: record.idle_seconds,
    max_connections: maxConnections,
    ...(entryName ? { entry_name: entryName.name, entry_name_port: entryName.port } : {}),
  };
}
