import { z } from 'zod';
import type { App } from '../../platform/http/app.ts';
import { identifyCaller, requireCaller } from '../../platform/http/authentication.ts';
import type { Authenticate } from '../../platform/http/authentication.ts';
import { STATUS_OF } from '../../platform/http/error-handler.ts';
import type { DescribeError } from '../../platform/http/error-handler.ts';
import { limitRequests } from '../../platform/http/rate-limit.ts';
import type { RateLimit } from '../../platform/http/rate-limit.ts';

/** docs/interface.md, plant: a demonstration that stores nothing. */
const plantSchema = z
  .object({ name: z.string().min(1).max(255), tag: z.string().max(255).optional().describe('Type of the plant') })
  .meta({ id: 'Plant' });

const LARGEST_INT64 = 2n ** 63n - 1n;

/** Validated and discarded. Integers beyond the range of a JavaScript number are bigint (`exactIntegers`). */
const int64 = z
  .any()
  .refine(isInt64, { error: ({ input }) => (input === undefined ? 'is required' : 'must be a 64-bit integer') })
  .meta({ type: 'integer', format: 'int64' });

function isInt64(id: unknown): boolean {
  if (typeof id === 'number') return Number.isSafeInteger(id) || (Number.isInteger(id) && Math.abs(id) < 2 ** 63);
  return typeof id === 'bigint' && id <= LARGEST_INT64 && id >= -LARGEST_INT64 - 1n;
}

const newPlantSchema = plantSchema.extend({ id: int64 }).meta({ id: 'NewPlant' });

const plantErrorSchema = z.object({ error: z.int().meta({ format: 'int32' }), message: z.string() }).meta({ id: 'Error' });

/** The demonstration has its own error format instead of problem+json. */
export const describePlantError: DescribeError = (error) => {
  const status = error.code === 'invalid' ? 400 : STATUS_OF[error.code];
  return { status, type: 'application/json; charset=utf-8', body: JSON.stringify({ error: status, message: error.message }) };
};

/** Registers `POST /plants` on an application made with {@link describePlantError}. */
export async function plantRoutes(app: App, deps: { authenticate: Authenticate; rateLimit: RateLimit }): Promise<void> {
  identifyCaller(app, deps.authenticate);
  await limitRequests(app, 'sandbox', deps.rateLimit);
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
