import type { Server as HttpServer } from 'node:http';
import type { Server as HttpsServer } from 'node:https';
import type { FastifyBaseLogger, FastifyInstance, RawReplyDefaultExpression, RawRequestDefaultExpression } from 'fastify';
import type { ZodTypeProvider } from 'fastify-type-provider-zod';

/** What a feature's `routes.ts` receives: Fastify with zod schemas as the source of validation, types and documents. */
export type App = FastifyInstance<
  HttpServer | HttpsServer,
  RawRequestDefaultExpression,
  RawReplyDefaultExpression,
  FastifyBaseLogger,
  ZodTypeProvider
>;
