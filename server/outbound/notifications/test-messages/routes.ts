import { z } from 'zod';
import type { App } from '../../../platform/http/app.ts';
import { principalOf } from '../../../platform/http/authentication.ts';
import { commonErrors, envelope, success } from '../../../platform/http/envelope.ts';
import { problemSchema } from '../../../platform/http/error-handler.ts';
import { pathId } from '../../../platform/http/fields.ts';
import { messageSchema, presentMessage } from '../log/messages/routes.ts';
import type { TestMessages } from './service.ts';

const testedSchema = z
  .object({ thread_id: z.string(), messages: z.array(messageSchema).describe('One for each line of the group') })
  .meta({ id: 'TestedGroup' });

export interface TestRoutesDeps {
  testMessages: TestMessages;
}

export function testRoutes(app: App, { testMessages }: TestRoutesDeps): void {
  app.post(
    '/api/groups/:group_id/test',
    {
      config: { role: 'admin' },
      schema: {
        tags: ['notifications'],
        operationId: 'testGroup',
        summary: 'Send a test to everybody in a notification group, and say who got it',
        description:
          'By the path of every other message, also while the group is muted. Answers within 10 s, with the words of each provider. ' +
          'What was not sent by then is given up.',
        params: z.object({ group_id: pathId }),
        response: {
          200: envelope(testedSchema),
          ...commonErrors,
          429: problemSchema.describe('The group was tested a moment ago; see Retry-After'),
        },
      },
    },
    async (request) => {
      const { threadId, messages } = await testMessages.run(principalOf(request), request.params.group_id);
      const sent = messages.filter(({ state }) => state === 'sent').length;
      request.auditDetail = `${sent} of ${messages.length} sent`;
      return success({ thread_id: threadId, messages: messages.map(presentMessage) });
    },
  );
}
