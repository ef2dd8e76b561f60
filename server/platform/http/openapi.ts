import swagger from '@fastify/swagger';
import swaggerUi from '@fastify/swagger-ui';
import { jsonSchemaTransform, jsonSchemaTransformObject } from 'fastify-type-provider-zod';
import type { App } from './app.ts';
import { docsLook } from './docs-look.ts';
import { completeDocument } from './openapi-document.ts';
import type { OpenApiDocument } from './openapi-types.ts';

export interface ApiDocument {
  title: string;
  description: string;
  version: string;
  license?: string;
  serverUrl: string;
  /** URL of the OpenID provider, for interfaces that also accept user sessions. */
  discoveryUrl?: string;
  /** Path prefixes whose routes belong to the document. */
  prefixes: string[];
  /** Descriptions of the tags by name; unused tags are omitted. */
  tags?: Readonly<Record<string, string>>;
  /** True for an interface with its own error object. */
  ownErrors?: boolean;
}

/** The page may connect only to this server and must not be framed, because people paste keys into it. */
const DOCS_POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self' data:",
  "font-src 'self'",
  "connect-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join('; ');

/**
 * Serves OpenAPI 3.1, generated from the routes' zod schemas, at `/openapi.json`, and as `/docs` without external requests.
 * Register before the routes.
 */
export async function describeApi(app: App, document: ApiDocument): Promise<void> {
  const hasProblems = document.ownErrors !== true;
  await app.register(swagger, {
    openapi: headOf(document),
    transform: (input) => {
      const shown = document.prefixes.some((prefix) => input.url.startsWith(prefix));
      const result = jsonSchemaTransform(input);
      return shown ? result : { ...result, schema: { ...result.schema, hide: true } };
    },
    transformObject: (input) =>
      completeDocument(jsonSchemaTransformObject(input) as unknown as OpenApiDocument, hasProblems) as unknown as ReturnType<
        typeof jsonSchemaTransformObject
      >,
  });
  await app.register(swaggerUi, { routePrefix: '/docs', staticCSP: DOCS_POLICY, ...docsLook(document.title) });
  app.get('/openapi.json', { schema: { hide: true } }, async (_request, reply) =>
    reply.type('application/json').serializer(String).send(JSON.stringify(app.swagger())),
  );
}

function headOf(document: ApiDocument) {
  return {
    openapi: '3.1.0',
    info: {
      title: document.title,
      description: document.description,
      version: document.version,
      ...(document.license === undefined ? {} : { license: { name: document.license, identifier: document.license } }),
    },
    servers: [{ url: document.serverUrl }],
    tags: Object.entries(document.tags ?? {}).map(([name, description]) => ({ name, description })),
    components: {
      securitySchemes: {
        bearer: {
          type: 'http' as const,
          scheme: 'bearer',
          bearerFormat: '<token_id>:<team_id>:<secret>',
          description: 'An API key of the team, in the Authorization header of every request',
        },
        ...(document.discoveryUrl === undefined ? {} : { session: sessionScheme(document.discoveryUrl) }),
      },
    },
    security: [{ bearer: [] }, ...(document.discoveryUrl === undefined ? [] : [{ session: [] }])],
  };
}

function sessionScheme(openIdConnectUrl: string) {
  return {
    type: 'openIdConnect' as const,
    openIdConnectUrl,
    description:
      'The access token (a JWT) of a person who has signed in, in the same header. Clients other than the console ask for the scope `api`',
  };
}
