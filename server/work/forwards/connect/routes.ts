import type { AuditService } from '../../../access/audit/service.ts';
import type { Clock } from '../../../platform/core/clock.ts';
import { isStillAllowed } from '../../../platform/core/principal.ts';
import type { App } from '../../../platform/http/app.ts';
import { recordOf } from '../../../platform/http/audit-hook.ts';
import { bearerOf, principalOf } from '../../../platform/http/authentication.ts';
import type { Authenticate } from '../../../platform/http/authentication.ts';
import { routerParams } from '../../../platform/http/envelope.ts';
import { pathId } from '../../../platform/http/fields.ts';
import type { Upgrades } from '../../../platform/http/upgrades.ts';
import type { ForwardsService } from '../service.ts';
import { CONNECT_SUBPROTOCOL } from './door.ts';
import type { ForwardDoor } from './door.ts';
import { EntryRecorder } from './entry-recorder.ts';

export interface ConnectRouteDeps {
  forwards: ForwardsService;
  door: ForwardDoor;
  upgrades: Upgrades;
  authenticate: Authenticate;
  clock: Clock;
  audit: Pick<AuditService, 'record'>;
}

/** A page of a browser takes sixty connections at once; they count on their own, not as sixty requests. */
const RATE_FACTOR = 10;

/** Who may enter. It is asked again while the connection is open. */
const NEEDED = 'operator';

/** HTTP's word for an upgrade. */
const ENTERED = 101;

/** Upgrades of other routes are not for the application: their bodies and long answers would have no limits. */
export function isConnectRequest({ method, url = '' }: { method?: string | undefined; url?: string | undefined }): boolean {
  return method === 'GET' && /^\/api\/routers\/[^/?]+\/transient-forwarding\/[^/?]+\/connect(?:\?|$)/.test(url);
}

/**
 * Carries one TCP connection of a forward as a WebSocket. The forward's `allow_only_cidr` is for its entry port, where
 * nobody shows a credential; here the caller has shown one. Not in the OpenAPI document, which cannot say what happens
 * after an upgrade: docs/forwards.md does.
 */
export function connectRoute(app: App, { forwards, door, upgrades, authenticate, clock, audit }: ConnectRouteDeps): void {
  const entries = new EntryRecorder(clock, (entry) => audit.record(entry));
  app.get(
    '/api/routers/:router_id/transient-forwarding/:id/connect',
    {
      exposeHeadRoute: false,
      config: { role: NEEDED, rateFactor: RATE_FACTOR },
      // Of a WebSocket there is no answer to send.
      onSend: async (request, reply, payload) => {
        if (request.principal) entries.record(recordOf(request, reply.statusCode));
        return payload;
      },
      schema: { hide: true, params: routerParams.extend({ id: pathId }) },
    },
    async (request, reply) => {
      const principal = principalOf(request);
      const bearer = bearerOf(request.headers.authorization) ?? '';
      const { remoteAddress, remotePort } = request.raw.socket;
      // Behind a proxy the port is the proxy's.
      const source = request.ip === remoteAddress ? `${request.ip.replace(/^::ffff:/, '')}:${remotePort}` : request.ip;
      const entrance = await forwards.entrance(principal.teamId, request.params.router_id, request.params.id, source);
      door.checkOpen();
      const ws = upgrades.accept(request, reply, CONNECT_SUBPROTOCOL);
      entries.record(recordOf(request, ENTERED));
      door.carry(entrance, ws, {
        source,
        teamId: principal.teamId,
        isStillAllowed: async () => isStillAllowed(await authenticate(bearer), principal, NEEDED),
      });
      return reply;
    },
  );
}
