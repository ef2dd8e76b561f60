import type { FastifyRequest } from 'fastify';
import { z } from 'zod';
import { AppError } from '../../../platform/core/errors.ts';
import type { App } from '../../../platform/http/app.ts';
import { identifyCaller } from '../../../platform/http/authentication.ts';
import { pathId } from '../../../platform/http/fields.ts';
import { limitRequests } from '../../../platform/http/rate-limit.ts';
import type { RateLimit } from '../../../platform/http/rate-limit.ts';
import type { Upgrades } from '../../../platform/http/upgrades.ts';
import type { TerminalsService } from '../service.ts';
import { TERMINAL_SUBPROTOCOL } from './attachment.ts';

/** A browser lets a page set only the subprotocols of a WebSocket, so the ticket is one of them. It is never sent back. */
export const TICKET_SUBPROTOCOL = 'signalbox.ticket.';

const TICKET = /^[A-Za-z0-9]{1,100}$/;

/** Reloads of many people behind one address. */
const RATE_FACTOR = 10;

export interface AttachRouteDeps {
  terminals: TerminalsService;
  upgrades: Upgrades;
  rateLimit: RateLimit;
}

/** Only these upgrades reach the application. */
export function isAttachRequest({ method, url = '' }: { method?: string | undefined; url?: string | undefined }): boolean {
  return method === 'GET' && /^\/api\/routers\/[^/?]+\/terminals\/[^/?]+\/attach(?:\?|$)/.test(url);
}

/**
 * Attaches a WebSocket to a terminal. The one-use ticket is the only credential: a page need not put its token into a WebSocket, and a
 * page of another origin has none. OpenAPI cannot describe what follows an upgrade, so docs/terminal.md documents this route.
 */
export async function attachRoute(app: App, { terminals, upgrades, rateLimit }: AttachRouteDeps): Promise<void> {
  identifyCaller(app, async () => undefined);
  await limitRequests(app, 'terminals', { ...rateLimit, perMinute: rateLimit.perMinute * RATE_FACTOR });
  app.get(
    '/api/routers/:router_id/terminals/:id/attach',
    { exposeHeadRoute: false, schema: { hide: true, params: z.object({ router_id: pathId, id: pathId }) } },
    async (request, reply) => {
      const { router_id: routerId, id } = request.params;
      const ticket = ticketOf(request);
      if (ticket === undefined)
        throw new AppError('unauthenticated', `offer the subprotocols ${TERMINAL_SUBPROTOCOL} and ${TICKET_SUBPROTOCOL}<ticket>`);
      const live = await terminals.redeem(routerId, id, ticket);
      const ws = upgrades.accept(request, reply, TERMINAL_SUBPROTOCOL);
      terminals.attach(live, ws, request.ip);
      return reply;
    },
  );
}

function ticketOf(request: FastifyRequest): string | undefined {
  const offered = (request.headers['sec-websocket-protocol'] ?? '').split(',').map((name) => name.trim());
  const ticket = offered.find((name) => name.startsWith(TICKET_SUBPROTOCOL))?.slice(TICKET_SUBPROTOCOL.length);
  return ticket !== undefined && TICKET.test(ticket) ? ticket : undefined;
}
