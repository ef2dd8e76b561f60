import { z } from 'zod';
import type { App } from '../../../../platform/http/app.ts';
import { principalOf } from '../../../../platform/http/authentication.ts';
import { commonErrors, envelope, success } from '../../../../platform/http/envelope.ts';
import { problemSchema } from '../../../../platform/http/error-handler.ts';
import { momentField, pathId } from '../../../../platform/http/fields.ts';
import type { DeliveryLog } from '../../log/service.ts';
import { presentThread, threadSchema } from '../../log/threads/routes.ts';
import type { ThreadsService } from '../service.ts';

const acknowledgeBody = z
  .object({ until: momentField.optional().describe('When nobody has it any more and it is told again; by default its end') })
  .meta({ id: 'Acknowledge', examples: [{ until: '2031-05-01T12:00:00Z' }] });

export interface AcknowledgeRoutesDeps {
  threads: Pick<ThreadsService, 'acknowledge'>;
  deliveryLog: Pick<DeliveryLog, 'getThread'>;
}

export function acknowledgeRoutes(app: App, { threads, deliveryLog }: AcknowledgeRoutesDeps): void {
  app.post(
    '/api/threads/:thread_id/acknowledge',
    {
      config: { role: 'operator' },
      schema: {
        tags: ['notifications'],
        operationId: 'acknowledgeThread',
        summary: 'Take a thread of notifications over',
        description: 'Ends reminders and escalation. Those who were told hear who has it; its end is told as ever.',
        params: z.object({ thread_id: pathId }),
        body: acknowledgeBody,
        response: { 200: envelope(threadSchema), ...commonErrors, 409: problemSchema.describe('The thread is over') },
      },
    },
    async (request) => {
      const { teamId, kind, id } = principalOf(request);
      const { until } = request.body;
      const taken = await threads.acknowledge(
        teamId,
        { kind, id },
        request.params.thread_id,
        until === undefined ? null : Date.parse(until),
      );
      const { thread } = await deliveryLog.getThread(teamId, taken.id);
      request.auditDetail = thread.subject;
      return success(presentThread(thread));
    },
  );
}
