import { feature } from '../../feature.ts';
import type { Platform } from '../../feature.ts';
import type { JobsService } from '../../work/jobs/service.ts';
import { webhookRoutes } from './routes.ts';
import { WebhooksService } from './service.ts';
import { DEFAULT_WEBHOOK_RULES } from './types.ts';

export { LONGEST_WAIT_MS } from './schedule.ts';

interface Needs extends Pick<Platform, 'config' | 'storage' | 'secrets' | 'clock' | 'log'> {
  jobs: JobsService;
}

export const webhooks = feature({
  create: ({ config, storage, secrets, clock, log, jobs }: Needs) => ({
    webhooks: new WebhooksService({
      storage,
      clock,
      log: log.child({ component: 'webhooks' }),
      jobs,
      secrets,
      rules: { ...DEFAULT_WEBHOOK_RULES, keepMs: config.keepDeliveriesMs },
      targets: { allowLoopback: config.allowLoopbackWebhooks },
    }),
  }),
  start: (own) => own.webhooks.start(),
  stop: (own) => own.webhooks.stop(),
  measures: ({ webhooks }) => ({ shares: { webhook_attempts: webhooks.attempts } }),
  routes: webhookRoutes,
});
