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
import { CONNECT_SUBPROTOCOL } from './endpoint.ts';
import type { ConnectEndpoint } from './endpoint.ts';
import { EntryRecorder } from './entry-recorder.ts';

export interface ConnectRouteDeps {
  forwards: ForwardsService;
  endpoint: ConnectEndpoint;
  upgrades: Upgrades;
  authenticate: Authenticate;
  clock: Clock;
  audit: Pick<AuditService, 'record'>;
}

/** A browser opens sixty connections for one page: this route has a higher rate limit than requests. */
const RATE_FACTOR = 10;

/** The role that a caller needs. It is checked again while the connection is open. */
const NEEDED = 'operator';

/** HTTP status of an upgrade. */
const ENTERED = 101;

/** Only these upgrades reach the application: bodies and answers of others would have no limits. */
export function isConnectRequest({ method, url = '' }: { method?: string | undefined; url?: string | undefined }): boolean {
  return method === 'GET' && /^\/api\/routers\/[^/?]+\/transient-forwarding\/[^/?]+\/connect(?:\?|$)/.test(url);
}

/**
 * Carries one TCP connection of a forward as a WebSocket. The forward's `allow_only_cidr` protects its entry port, where
 * clients show no credential; here the caller has shown one. OpenAPI cannot describe what follows an upgrade, so
 * docs/forwards.md documents this route.
 */
export function connectRoute(app: App, { forwards, endpoint, upgrades, authenticate, clock, audit }: ConnectRouteDeps): void {
  const entries = new EntryRecorder(clock, (entry) => audit.record(entry));
  app.get(
    '/api/routers/:router_id/transient-forwarding/:id/connect',
    {
      exposeHeadRoute: false,
      config: { role: NEEDED, rateFactor: RATE_FACTOR },
      // Only for refusals: a WebSocket has no HTTP answer.
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
      const acceptor = await forwards.acceptor(principal.teamId, request.params.router_id, request.params.id, source);
      endpoint.checkOpen();
      const ws = upgrades.accept(request, reply, CONNECT_SUBPROTOCOL);
      entries.record(recordOf(request, ENTERED));
      endpoint.carry(acceptor, ws, {
        source,
        teamId: principal.teamId,
        isStillAllowed: async () => isStillAllowed(await authenticate(bearer), principal, NEEDED),
      });
      return reply;
    },
  );
}
