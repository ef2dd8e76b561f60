import swagger from '@fastify/swagger';
import swaggerUi from '@fastify/swagger-ui';
import type { FastifyReply, FastifyRequest, RouteOptions } from 'fastify';
import { jsonSchemaTransform, jsonSchemaTransformObject } from 'fastify-type-provider-zod';
import { nextTurn } from '../core/loop-turns.ts';
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

const OPENAPI_VERSION = '3.1.0';

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
  const read = await describeRoutes(app, document);
  const send = async (_request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> =>
    reply.type('application/json').send(await read());
  await app.register(async (scope) => {
    // The page's own handlers would serialise the document for every stranger who asks, and write it as YAML. JSON is YAML, too.
    scope.addHook('onRequest', async (request, reply) =>
      PAGE_DOCUMENTS.has(request.routeOptions.url!) ? send(request, reply) : undefined,
    );
    await scope.register(swaggerUi, { routePrefix: '/docs', staticCSP: DOCS_POLICY, ...docsLook(document.title) });
  });
  app.get('/openapi.json', { schema: { hide: true } }, send);
}

type TransformInput = Extract<Parameters<typeof jsonSchemaTransform>[0], { openapiObject: unknown }>;

/** Where the page of `/docs` has its document. */
const PAGE_DOCUMENTS = new Set(['/docs/json', '/docs/yaml']);

/**
 * @returns reads the document, as the bytes that are sent. It is built at the first call, because it takes some tenths of a second, and in turns of the
 *   event loop: other requests are answered in between.
 */
async function describeRoutes(app: App, document: ApiDocument): Promise<() => Promise<Buffer>> {
  const routes: RouteOptions[] = [];
  const transformed = new Map<RouteOptions, ReturnType<typeof jsonSchemaTransform>>();
  app.addHook('onRoute', (route) => void routes.push(route));
  await app.register(swagger, { openapi: headOf(document), transform: ({ route }) => transformed.get(route)! });

  const build = async (): Promise<Buffer> => {
    // Of the document it only wants to know the version.
    const openapiObject = { openapi: OPENAPI_VERSION } as TransformInput['openapiObject'];
    for (const route of routes) {
      const { schema, url } = route;
      const isShown = document.prefixes.some((prefix) => url.startsWith(prefix));
      transformed.set(route, jsonSchemaTransform({ schema: isShown ? schema! : { hide: true }, url, route, openapiObject }));
      await nextTurn();
    }
    const generated = { openapiObject: app.swagger() } as Parameters<typeof jsonSchemaTransformObject>[0];
    await nextTurn();
    const whole = jsonSchemaTransformObject(generated) as unknown as OpenApiDocument;
    await nextTurn();
    return Buffer.from(JSON.stringify(completeDocument(whole, document.ownErrors !== true)));
  };
  let built: Promise<Buffer> | undefined;
  return () => (built ??= build());
}

function headOf(document: ApiDocument) {
  return {
    openapi: OPENAPI_VERSION,
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
