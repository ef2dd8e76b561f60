import { AppError } from '../core/errors.ts';
import type { App } from './app.ts';

export interface Health {
  /** Of this program, as `signalbox --version` prints it. */
  version: string;
  /** Whether the database answers. */
  isReady: () => Promise<boolean>;
}

/**
 * For load balancers and process managers, without a credential: `/healthz` while the process answers at all,
 * `/readyz` only while the database answers too.
 */
export function healthRoutes(app: App, { version, isReady }: Health): void {
  app.get('/healthz', { schema: { hide: true } }, async () => ({ status: 'ok', version }));
  app.get('/readyz', { schema: { hide: true } }, async () => {
    const ready = await isReady().catch(() => false);
    if (!ready) throw new AppError('unavailable', 'the database does not answer');
    return { status: 'ok' };
  });
}
