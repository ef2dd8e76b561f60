import { configurationWarnings } from '../../config-warnings.ts';
import { feature } from '../../feature.ts';
import type { Platform } from '../../feature.ts';
import { IGNORED_FORWARDING } from '../../platform/http/ignored-forwarding.ts';
import { SERVER_VERSION } from '../../version.ts';
import { metricsRoutes } from './metrics/routes.ts';
import { Metrics } from './metrics/service.ts';
import { statusRoutes } from './status/routes.ts';
import { StatusService } from './status/service.ts';

export { measureRequests } from './metrics/routes.ts';

interface Needs extends Pick<Platform, 'config' | 'storage' | 'clock' | 'counters' | 'ignoredForwarding'> {
  tunnelRegistry: { readonly size: number };
}

interface Routes {
  status: StatusService;
  metrics: Metrics;
}

/** Status and metrics of this process, and warnings to its operator. */
export const monitoring = feature({
  create: ({ config, storage, clock, counters, ignoredForwarding, tunnelRegistry }: Needs) => {
    const status = new StatusService({
      storage,
      clock,
      version: SERVER_VERSION,
      countAgents: () => tunnelRegistry.size,
      countIgnoredForwarding: () => ignoredForwarding.count,
      warnings: () => [...configurationWarnings(config), ...(ignoredForwarding.count > 0 ? [IGNORED_FORWARDING] : [])],
    });
    return { status, metrics: new Metrics(status, counters) };
  },
  internalRoutes: (scope, services: Routes) => {
    statusRoutes(scope, services);
    metricsRoutes(scope, services);
  },
});
