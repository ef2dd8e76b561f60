import type { App } from '../../../platform/http/app.ts';
import type { Metrics } from './service.ts';

/** Prometheus text, for a scope that admits service tokens only. */
export function metricsRoutes(scope: App, deps: { metrics: Metrics }): void {
  scope.get('/internal/metrics', { schema: { hide: true } }, async (_request, reply) =>
    reply
      .type(deps.metrics.contentType)
      .serializer(String)
      .send(await deps.metrics.text()),
  );
}

/** Measures every answer by route pattern, so that ids in paths create no new series. */
export function measureRequests(app: App, metrics: Metrics): void {
  app.addHook('onResponse', async (request, reply) => {
    metrics.observeRequest(
      { method: request.method, route: request.routeOptions.url ?? 'none', status: reply.statusCode },
      reply.elapsedTime / 1000,
    );
  });
}
