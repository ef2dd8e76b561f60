import { AppError } from '../core/errors.ts';
import type { App } from './app.ts';

export interface Health {
  /** The version that `signalbox --version` prints. */
  version: string;
  /** Whether the database responds. */
  isReady: () => Promise<boolean>;
  /** Why it shall get no new work although it runs. */
  whyNotReady?: () => string | undefined;
}

/**
 * For load balancers and process managers, without a credential: `/healthz` succeeds while the process runs, `/readyz`
 * only while the database also responds and it shall get new work.
 */
export function healthRoutes(app: App, { version, isReady, whyNotReady }: Health): void {
  app.get('/healthz', { schema: { hide: true } }, async () => ({ status: 'ok', version }));
  app.get('/readyz', { schema: { hide: true } }, async () => {
    const reason = whyNotReady?.();
    if (reason !== undefined) throw new AppError('unavailable', reason);
    const ready = await isReady().catch(() => false);
    if (!ready) throw new AppError('unavailable', 'the database does not answer');
    return { status: 'ok' };
  });
}
