import { Readable } from 'node:stream';
import type { FastifyRequest } from 'fastify';
import { z } from 'zod';
import { TERMINAL_LEVELS, terminalSize } from '../../../protocol/index.ts';
import type { AuditService } from '../../access/audit/service.ts';
import { AppError } from '../../platform/core/errors.ts';
import { hasRole } from '../../platform/core/principal.ts';
import type { App } from '../../platform/http/app.ts';
import { recordOf } from '../../platform/http/audit-hook.ts';
import { principalOf } from '../../platform/http/authentication.ts';
import { commonErrors, envelope, routerParams, success } from '../../platform/http/envelope.ts';
import { problemSchema } from '../../platform/http/error-handler.ts';
import { pathId, textField } from '../../platform/http/fields.ts';
import { presentTerminal, terminalExample, terminalSchema } from './list/routes.ts';
import type { TerminalsService } from './service.ts';
import { ROLE_OF_LEVEL } from './types.ts';
import type { Opener, TerminalView, Ticket } from './types.ts';

/** A sentence or a ticket number; it is shown in lists. */
const REASON_CHARS = 300;

const bodySchema = z
  .object({
    level: z.enum(TERMINAL_LEVELS).describe('read needs the role operator, full the role admin'),
    reason: textField(REASON_CHARS).trim().min(3).describe('Why; the team sees it in its lists and in the audit log'),
    cols: terminalSize.cols.default(80),
    rows: terminalSize.rows.default(24),
  })
  .meta({ id: 'NewTerminal', examples: [{ level: 'read', reason: 'ticket 4711: the uplink drops at noon' }] });

const ticketSchema = terminalSchema
  .extend({
    ticket: z.string().describe('Attaches once, as the WebSocket subprotocol `signalbox.ticket.<ticket>`; shown only in this answer'),
    ticket_valid_seconds: z.int(),
    attach_path: z.string().describe('Path of the WebSocket'),
  })
  .meta({
    id: 'TerminalWithTicket',
    examples: [
      {
        ...terminalExample,
        ticket: 'x'.repeat(48),
        ticket_valid_seconds: 30,
        attach_path: `/api/routers/${terminalExample.router_id}/terminals/${terminalExample.id}/attach`,
      },
    ],
  });

const terminalParams = z.object({ terminal_id: pathId });
const tags = ['terminals'];

export interface TerminalRoutesDeps {
  terminals: TerminalsService;
  audit: Pick<AuditService, 'record'>;
}

export function terminalRoutes(app: App, deps: TerminalRoutesDeps): void {
  openRoute(app, deps);
  ticketRoute(app, deps);
  readRoute(app, deps);
  endRoute(app, deps);
  recordingRoute(app, deps);
}

function openRoute(app: App, { terminals }: TerminalRoutesDeps): void {
  app.post(
    '/api/routers/:router_id/terminals',
    {
      config: { role: 'operator', secretAnswer: true },
      schema: {
        tags,
        operationId: 'openTerminal',
        summary: 'Open a terminal on a router; the answer has a ticket with which a WebSocket attaches once',
        description:
          'Waits until the agent has logged in to the router. A person must have signed in within the last 15 minutes. Everything that the ' +
          'router prints is recorded. One terminal for each person or API key and router (docs/terminal.md).',
        params: routerParams,
        body: bodySchema,
        response: {
          200: envelope(ticketSchema),
          ...commonErrors,
          409: problemSchema.describe('The caller has a terminal on this router (`terminal_id`), or there are too many'),
          422: problemSchema.describe(
            'A field is wrong, or the agent opens no such terminal (`reason`: terminal_off, terminal_no_user, …)',
          ),
          502: problemSchema.describe('The router opens no shell'),
          503: problemSchema.describe('The agent or the router is away, or the router refuses the login (`reason`: login_refused)'),
        },
      },
    },
    async (request, reply) => {
      const { level, reason, cols, rows } = request.body;
      if (!hasRole(principalOf(request), ROLE_OF_LEVEL[level]))
        throw new AppError('forbidden', `a terminal of the level ${level} needs the role ${ROLE_OF_LEVEL[level]}`);
      request.auditDetail = `level ${level}: ${reason}`;
      const opened = await terminals.open(openerOf(request), request.params.router_id, { level, reason, cols, rows });
      request.auditDetail = `level ${level}: ${reason} (terminal ${opened.record.id})`;
      reply.header('cache-control', 'no-store');
      return success(presentTicket(opened));
    },
  );
}

function ticketRoute(app: App, { terminals }: TerminalRoutesDeps): void {
  app.post(
    '/api/terminals/:terminal_id/tickets',
    {
      config: { role: 'operator', secretAnswer: true },
      schema: {
        tags,
        operationId: 'createTerminalTicket',
        summary: 'Get another ticket for an own open terminal, after a reload or a broken connection',
        description: 'Earlier tickets lose their effect. Only its opener attaches to a terminal.',
        params: terminalParams,
        response: { 200: envelope(ticketSchema), ...commonErrors, 409: problemSchema.describe('The terminal has ended') },
      },
    },
    async (request, reply) => {
      const ticket = await terminals.newTicket(openerOf(request), request.params.terminal_id);
      reply.header('cache-control', 'no-store');
      return success(presentTicket(ticket));
    },
  );
}

function readRoute(app: App, { terminals }: TerminalRoutesDeps): void {
  app.get(
    '/api/terminals/:terminal_id',
    {
      schema: {
        tags,
        operationId: 'getTerminal',
        summary: 'Read one terminal',
        params: terminalParams,
        response: { 200: envelope(terminalSchema), ...commonErrors },
      },
    },
    async (request) => success(presentTerminal(await terminals.get(principalOf(request).teamId, request.params.terminal_id))),
  );
}

function endRoute(app: App, { terminals }: TerminalRoutesDeps): void {
  app.delete(
    '/api/terminals/:terminal_id',
    {
      config: { role: 'operator' },
      schema: {
        tags,
        operationId: 'endTerminal',
        summary: 'End a terminal at once: an own one, or any one as an administrator',
        params: terminalParams,
        response: { 204: z.null().describe('Ended, or it had already ended'), ...commonErrors },
      },
    },
    async (request, reply) => {
      await terminals.close({ ...openerOf(request), role: principalOf(request).role }, request.params.terminal_id);
      return reply.code(204).send(null);
    },
  );
}

function recordingRoute(app: App, { terminals, audit }: TerminalRoutesDeps): void {
  app.get(
    '/api/terminals/:terminal_id/recording',
    {
      config: { role: 'admin' },
      // A read, but one that the team must be able to see.
      onSend: async (request, reply, payload) => {
        if (request.principal) audit.record(recordOf(request, reply.statusCode));
        return payload;
      },
      schema: {
        tags,
        operationId: 'getTerminalRecording',
        summary: 'Read the recording of a terminal as an asciicast v2 file',
        description: 'Recorded until now if the terminal is open. The audit log names everyone who reads one.',
        params: terminalParams,
        response: { 200: { description: 'The file', content: { 'application/x-asciicast': { schema: z.string() } } }, ...commonErrors },
      },
    },
    async (request, reply) => {
      const { terminal_id: id } = request.params;
      const parts = await terminals.recordings.read({ teamId: principalOf(request).teamId, id });
      return reply
        .header('content-disposition', `attachment; filename="terminal-${id}.cast"`)
        .header('cache-control', 'no-store')
        .header('x-content-type-options', 'nosniff')
        .type('application/x-asciicast')
        .send(Readable.from(parts) as never);
    },
  );
}

function openerOf(request: FastifyRequest): Opener {
  const { kind, id, teamId, clientId, signedInAt } = principalOf(request);
  return {
    kind,
    id,
    teamId,
    ...(clientId === undefined ? {} : { clientId }),
    ...(signedInAt === undefined ? {} : { signedInAt }),
    source: request.ip,
  };
}

function presentTicket({ ticket, validMs, ...view }: TerminalView & Ticket): z.infer<typeof ticketSchema> {
  const { router_id: routerId, id } = view.record;
  return {
    ...presentTerminal(view),
    ticket,
    ticket_valid_seconds: Math.floor(validMs / 1000),
    attach_path: `/api/routers/${routerId}/terminals/${id}/attach`,
  };
}
