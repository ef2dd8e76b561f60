import type { FastifyError, FastifyReply, FastifyRequest } from 'fastify';
import { z } from 'zod';
import type { AppError } from '../core/errors.ts';
import type { App } from '../http/app.ts';
import { identifyCaller, requireCaller } from '../http/authentication.ts';
import type { Authenticate } from '../http/authentication.ts';
import { STATUS_OF, toAppError } from '../http/error-handler.ts';
import { limitRequests } from '../http/rate-limit.ts';

/** INTERFACE.md 2.10 and 2.11: a demonstration that stores nothing. */
const plantSchema = z.object({
  name: z.string().min(1).max(255),
  tag: z.string().max(255).optional().describe('Type of the plant'),
}).meta({ id: 'Plant' });

const newPlantSchema = plantSchema.extend({ id: z.int().meta({ format: 'int64' }) }).meta({ id: 'NewPlant' });

const plantErrorSchema = z.object({ error: z.int().meta({ format: 'int32' }), message: z.string() }).meta({ id: 'Error' });

/** Errors of the demonstration are an object of their own instead of problem+json. */
export function plantErrorHandler(error: FastifyError | AppError, request: FastifyRequest, reply: FastifyReply): void {
  const known = toAppError(error);
  const status = known.code === 'invalid' ? 400 : STATUS_OF[known.code];
  if (status === 500) request.log.error({ err: known.cause ?? known }, 'request failed');
  const body = JSON.stringify({ error: status, message: known.message });
  void reply.code(status).type('application/json').serializer(String).send(body);
}

/** Registers `POST /plants` on an application made with {@link plantErrorHandler}. */
export async function plantRoutes(app: App, deps: { authenticate: Authenticate; ratePerMinute: number }): Promise<void> {
  identifyCaller(app, deps.authenticate);
  await limitRequests(app, deps.ratePerMinute);
  requireCaller(app);
  app.post(
    '/plants',
    {
      schema: {
        tags: ['plants'],
        summary: 'Create a plant',
        operationId: 'createPlant',
        body: newPlantSchema,
        response: { 200: plantSchema, 400: plantErrorSchema, 401: plantErrorSchema, 429: plantErrorSchema },
      },
    },
    async (request) => {
      const { name, tag } = request.body;
      return tag === undefined ? { name } : { name, tag };
    },
  );
}
