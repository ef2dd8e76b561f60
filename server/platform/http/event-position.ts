import type { App } from './app-type.ts';
import { principalOf } from './authentication.ts';

/** Where the event stream of the team stood before anything was read for the answer. */
export const EVENT_POSITION_HEADER = 'x-event-id';

/**
 * Every answer to a GET says where the team's event stream stood before the first record was read: a stream from there reports
 * everything that the answer does not contain yet. Register it after the checks of the caller.
 */
export function nameEventPosition(scope: App, positionOf: (teamId: string) => string): void {
  scope.addHook('preHandler', async (request, reply) => {
    if (request.method === 'GET' || request.method === 'HEAD') reply.header(EVENT_POSITION_HEADER, positionOf(principalOf(request).teamId));
  });
}
