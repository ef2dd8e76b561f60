import path from 'node:path';
import fastifyStatic from '@fastify/static';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { AppError } from '../../platform/core/errors.ts';
import { PAGE_POLICY } from '../../platform/core/html-page.ts';
import type { App } from '../../platform/http/app.ts';
import { ASSET_POLICY, pageOf, TERMINAL_POLICY } from './service.ts';
import type { ConsoleFiles } from './types.ts';
import { unbuiltPage } from './unbuilt-page.ts';

/** Paths of the interface. A wrong address below them is told so as JSON, also to a browser. */
const RESERVED = /^\/(?:api|arp|oidc|docs|openapi\.json|agent|callbacks|internal|healthz|readyz|assets)(?:[/?]|$)/;

/** The built files. Their names hold a hash of their content, so browsers keep them for ever. */
export async function consoleRoutes(app: App, { consoleFiles }: { consoleFiles: ConsoleFiles | null }): Promise<void> {
  if (!consoleFiles) {
    app.get('/', { schema: { hide: true } }, async ({ headers }, reply) => {
      if (!wantsPage(headers)) return reply.redirect('/docs');
      return reply
        .header('content-security-policy', PAGE_POLICY)
        .header('cache-control', 'no-store')
        .type('text/html; charset=utf-8')
        .send(unbuiltPage());
    });
    return;
  }
  // The page renews its token by a request that the provider sends here; it reads the address of the answer only.
  app.get('/silent-callback', { schema: { hide: true } }, async (_request, reply) => reply.code(204).send());
  app.get('/terminal.html', { schema: { hide: true } }, async (_request, reply) =>
    reply
      .header('content-security-policy', TERMINAL_POLICY)
      .header('cache-control', 'no-store')
      .type('text/html; charset=utf-8')
      .send(consoleFiles.terminal as never),
  );
  // At the top: a service worker acts for the addresses below its own. Browsers ask for it again by themselves.
  app.get('/push-worker.js', { schema: { hide: true } }, async (_request, reply) =>
    reply
      .header('content-security-policy', ASSET_POLICY)
      .header('cross-origin-resource-policy', 'same-origin')
      .header('cache-control', 'no-cache')
      .type('text/javascript; charset=utf-8')
      .send(consoleFiles.pushWorker as never),
  );
  await app.register(
    async (assets) => {
      assets.setNotFoundHandler(refuseMissing);
      await assets.register(fastifyStatic, {
        root: path.join(consoleFiles.folder, 'assets'),
        // Looked for when they are asked for: an upgrade replaces the files below a running control plane.
        wildcard: true,
        index: false,
        preCompressed: true,
        immutable: true,
        maxAge: '365d',
        schemaHide: true,
        setHeaders: (reply) => {
          reply.header('content-security-policy', ASSET_POLICY);
          reply.header('cross-origin-resource-policy', 'same-origin');
        },
      });
    },
    { prefix: '/assets' },
  );
}

/** A browser that opens an address, unlike its scripts and other programs. */
function wantsPage({ accept = '' }: FastifyRequest['headers']): boolean {
  return accept.includes('text/html');
}

/** A file of another build, which no cache may remember as missing: a page from before an upgrade asks for it. */
async function refuseMissing({ method, url }: FastifyRequest, reply: FastifyReply): Promise<never> {
  const file = url.split('?')[0];
  reply.header('cache-control', 'no-store');
  if (method === 'GET' || method === 'HEAD') throw new AppError('not_found', `this build of the web application has no file ${file}`);
  reply.header('allow', 'GET, HEAD');
  throw new AppError('method_not_allowed', `${file} takes GET, HEAD, not ${method}`);
}

/**
 * Answers a browser that opens an address of the application: every path that is not the interface's.
 * @returns undefined for other requests
 */
export function consolePage(consoleFiles: ConsoleFiles | null, request: FastifyRequest, reply: FastifyReply): string | undefined {
  const isPage = request.method === 'GET' && wantsPage(request.headers) && !RESERVED.test(request.url);
  if (!isPage || !consoleFiles) return undefined;
  const { html, policy } = pageOf(consoleFiles);
  reply.header('content-security-policy', policy).header('cache-control', 'no-store').type('text/html; charset=utf-8');
  return html;
}
