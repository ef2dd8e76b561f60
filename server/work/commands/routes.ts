import { z } from 'zod';
import type { App } from '../../platform/http/app.ts';
import { principalOf } from '../../platform/http/authentication.ts';
import { callerGone } from '../../platform/http/caller-gone.ts';
import { commonErrors, envelope, routerParams } from '../../platform/http/envelope.ts';
import { problemSchema } from '../../platform/http/error-handler.ts';
import { MAX_WORDS, auditedPath } from './parse.ts';
import type { CommandsService } from './service.ts';
import { DEFAULT_TIMEOUT_MS } from './service.ts';

/** docs/interface.md, command; `timeout_seconds` is an addition. */
const bodySchema = z
  .object({
    command: z
      .string()
      .min(1)
      .max(1024)
      .meta({ examples: ['/ip/address/print'] }),
    parameters: z
      .union([z.string().max(65_536), z.array(z.string()).max(MAX_WORDS)], {
        error: 'must be a string of at most 65536 characters or a list of API words',
      })
      .default('')
      .meta({ examples: ['?interface=ether1'] }),
    timeout_seconds: z
      .int()
      .min(1)
      .max(120)
      .default(DEFAULT_TIMEOUT_MS / 1000),
  })
  .meta({ id: 'Command' });

const rowsSchema = z
  .array(z.record(z.string(), z.string()))
  .describe("The rows of the answer, with the router's own values; `.id` is `id`, other names are in snake_case")
  .meta({ examples: [[{ id: '*1', address: '192.168.88.1/24', network: '192.168.88.0', interface: 'bridge' }]] });

export function commandRoutes(app: App, deps: { commands: CommandsService }): void {
  app.post(
    '/api/synchronous/:router_id',
    {
      config: { role: 'operator' },
      schema: {
        tags: ['commands'],
        operationId: 'runCommand',
        summary: 'Run a command on a router and wait for its answer',
        description:
          'parameters: console style (address=10.0.0.1/30 interface=ether1), API words one per line (=disabled=no, ?type=ether), or API words as a JSON array, itself or written into the string.',
        params: routerParams,
        body: bodySchema,
        response: {
          200: envelope(rowsSchema),
          ...commonErrors,
          503: problemSchema.describe('The agent or the router is not connected; nothing was sent'),
          504: problemSchema.describe('No answer in time; the command may have taken effect'),
        },
      },
    },
    async (request, reply) => {
      const { command, parameters, timeout_seconds: seconds } = request.body;
      // Not its parameters, which may be passwords.
      request.auditDetail = auditedPath(command);
      const rows = await deps.commands.run(
        principalOf(request).teamId,
        request.params.router_id,
        { command, parameters, timeoutMs: seconds * 1000 },
        callerGone(reply.raw),
      );
      // Already serialised: validating and serialising all rows at once would block every other request.
      return reply
        .type('application/json; charset=utf-8')
        .serializer(String)
        .send(`{"status":"success","data":${rows}}` as never);
    },
  );
}
