import { z } from 'zod';
import type { App } from '../../../platform/http/app.ts';
import { envelope, success } from '../../../platform/http/envelope.ts';
import { problemSchema } from '../../../platform/http/error-handler.ts';
import type { StatusService } from './service.ts';

const statusSchema = z.object({
  version: z.string(),
  uptime_seconds: z.int(),
  connected_agents: z.int().describe('On this node'),
  open_forwards: z.int(),
  queued_jobs: z.int(),
  running_jobs: z.int(),
  ignored_forwarding: z.int().describe('Requests with a forwarding header from an untrusted proxy, since the start'),
  warnings: z.array(z.string()).describe('Configuration problems that the operator should fix'),
});

/** For a scope that admits service tokens only, because it counts across all teams. */
export function statusRoutes(scope: App, deps: { status: StatusService }): void {
  scope.get(
    '/internal/status',
    {
      schema: {
        hide: true,
        summary: 'Read the status of the control plane',
        response: {
          200: envelope(statusSchema),
          401: problemSchema.describe('No service token'),
          429: problemSchema.describe('Too many attempts without a service token'),
        },
      },
    },
    async () => {
      const status = await deps.status.read();
      return success({
        version: status.version,
        uptime_seconds: status.uptimeSeconds,
        connected_agents: status.connectedAgents,
        open_forwards: status.openForwards,
        queued_jobs: status.queuedJobs,
        running_jobs: status.runningJobs,
        ignored_forwarding: status.ignoredForwarding,
        warnings: status.warnings,
      });
    },
  );
}
