import type { FastifyReply, FastifyRequest } from 'fastify';
import { AppError } from '../core/errors.ts';
import type { App } from './app-type.ts';

/** The page of the web application for a request without a route; undefined when it has none for it. May set headers. */
export type PageFor = (request: FastifyRequest, reply: FastifyReply) => string | undefined;

/** Responds to requests without a route: a page, 405 for another method, 404 for another path. Call before the first route. */
export function refuseUnknownPaths(app: App, pageFor: PageFor = () => undefined): void {
  const paths = new KnownPaths(app);
  app.setNotFoundHandler(async (request, reply) => {
    const page = pageFor(request, reply);
    if (page !== undefined) return reply.send(page);
    const { method } = request;
    const path = request.url.split('?')[0]!;
    const allowed = paths.methodsOf(path);
    if (allowed.length === 0) throw new AppError('not_found', `no route ${method} ${path}${paths.hintFor(path)}`);
    reply.header('allow', allowed.join(', '));
    if (method === 'OPTIONS') return reply.code(204).send();
    throw new AppError('method_not_allowed', `${path} takes ${allowed.join(', ')}, not ${method}`);
  });
}

/** Which methods a path has. */
class KnownPaths {
  /** By the pattern of the path. */
  readonly #methods = new Map<string, { matches: RegExp; methods: Set<string> }>();

  constructor(app: App) {
    app.addHook('onRoute', ({ url, method }) => {
      // Routes for CORS preflights are not paths of their own.
      if (url === '*') return;
      const known = this.#methods.get(url) ?? { matches: expressionOf(url), methods: new Set() };
      for (const each of [method].flat()) known.methods.add(each);
      this.#methods.set(url, known);
    });
  }

  /** Not redirected: with an id that is empty by mistake, `/api/groups/` would become the list of groups. */
  hintFor(path: string): string {
    return path.endsWith('/') && this.methodsOf(path.slice(0, -1)).length > 0 ? ': there is one without the slash at the end' : '';
  }

  /** In alphabetical order; empty for a path that does not exist. */
  methodsOf(path: string): string[] {
    const found = [...this.#methods.values()].filter(({ matches }) => matches.test(path));
    return [...new Set(found.flatMap(({ methods }) => [...methods]))].sort();
  }
}

/** `/a/:id`, `/:group(^[0-9]+$)` and `/static/*` as an expression over whole paths. */
function expressionOf(url: string): RegExp {
  const parts = url.split(/(:\w+(?:\(.*?\)(?=\/|$))?|\*)/).map((part) => {
    const own = /^:\w+(?:\(\^?(.*?)\$?\))?$/.exec(part);
    if (own) return own[1] ?? '[^/]+';
    return part === '*' ? '.*' : part.replaceAll(/[.*+?^${}()|[\]\\]/g, String.raw`\$&`);
  });
  return new RegExp(`^${parts.join('')}$`);
}
