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
  /** Of the OpenID provider, for interfaces that take sessions of people too. */
  discoveryUrl?: string;
  /** Path prefixes whose routes belong to the document. */
  prefixes: string[];
  /** What each tag stands for, by name; those that no route uses are left out. */
  tags?: Readonly<Record<string, string>>;
  /** True for an interface whose errors are an object of its own. */
  ownErrors?: boolean;
}

/** The page may load and ask nothing but this server, and nobody may frame it: it is where people paste keys. */
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
 * OpenAPI 3.1 from the routes' own zod schemas, at `/openapi.json`, readable at `/docs` without any outside request.
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
