import { describePlantError, plantRoutes } from '../operations/sandbox/feature.ts';
import { admitRequests } from '../platform/http/admission-gate.ts';
import { createApp } from '../platform/http/app.ts';
import { listen } from '../platform/http/listen.ts';
import { describeApi } from '../platform/http/openapi.ts';
import { appOptions } from './api.ts';
import type { EdgeDeps } from './api.ts';
import { PLANTS_DESCRIPTION } from './api-description.ts';

/** @returns listen address of the plant demonstration; null when it is off */
export async function startSandbox(deps: EdgeDeps, closers: (() => Promise<void>)[]): Promise<string | null> {
  const { config, services } = deps;
  if (config.sandboxListen === null) return null;
  const options = { ...appOptions(deps), describeError: describePlantError, exactIntegers: true };
  const app = createApp(options);
  deps.tls?.keepRenewed(app.server);
  admitRequests(app, { admission: deps.admission, options });
  await describeApi(app, {
    ...PLANTS_DESCRIPTION,
    serverUrl: `http://${config.sandboxListen.host}:${config.sandboxListen.port}`,
    prefixes: ['/plants'],
    ownErrors: true,
  });
  await app.register(async (instance) => {
    await plantRoutes(instance, { authenticate: services.publicCaller, rateLimit: services.rateLimit });
  });
  closers.push(() => app.close());
  return listen(app, config.sandboxListen, { quiet: services.quietConnections, what: 'plant demonstration (SIGNALBOX_SANDBOX_LISTEN)' });
}
