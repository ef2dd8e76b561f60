import type { LoopTurns } from '../core/loop-turns.ts';
import type { App } from './app-type.ts';

/**
 * Every GET of this scope waits for its turn of the event loop: a thousand records take some 40 ms to read and to write out, and dozens of
 * such requests that were begun in one turn would hold up everything else for seconds. Behind the check of the caller.
 */
export function takeTurnsReading(scope: App, turns: LoopTurns): void {
  scope.addHook('preHandler', (request, _reply, done) => {
    const { principal } = request;
    if (request.method !== 'GET' || !principal) {
      done();
      return;
    }
    const holder = { party: principal.teamId, member: principal.id };
    void turns.take(holder).then(() => turns.within(holder, done));
  });
}
