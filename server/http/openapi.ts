import swagger from '@fastify/swagger';
import swaggerUi from '@fastify/swagger-ui';
import { jsonSchemaTransform, jsonSchemaTransformObject } from 'fastify-type-provider-zod';
import type { App } from './app.ts';

export interface ApiDocument {
  title: string;
  description: string;
  version: string;
  license?: string;
  serverUrl: string;
  /** Path prefixes whose routes belong to the document. */
  prefixes: string[];
}

/**
 * OpenAPI 3.1 from the routes' own zod schemas, at `/openapi.json`, readable at `/docs` without any outside request.
 * Register before the routes.
 */
export async function describeApi(app: App, document: ApiDocument): Promise<void> {
  await app.register(swagger, {
    openapi: {
      openapi: '3.1.0',
      info: {
        title: document.title,
        description: document.description,
        version: document.version,
        ...(document.license === undefined ? {} : { license: { name: document.license, identifier: document.license } }),
      },
      servers: [{ url: document.serverUrl }],
      components: { securitySchemes: { bearer: { type: 'http', scheme: 'bearer' } } },
      security: [{ bearer: [] }],
    },
    transform: (input) => {
      const shown = document.prefixes.some((prefix) => input.url.startsWith(prefix));
      const result = jsonSchemaTransform(input);
      return shown ? result : { ...result, schema: { ...result.schema, hide: true } };
    },
    transformObject: jsonSchemaTransformObject,
  });
  await app.register(swaggerUi, { routePrefix: '/docs', staticCSP: true });
  app.get('/openapi.json', { schema: { hide: true } }, async (_request, reply) =>
    reply.type('application/json').serializer(String).send(JSON.stringify(app.swagger())),
  );
}
