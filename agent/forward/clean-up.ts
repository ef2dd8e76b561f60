import { AgentError } from '../core/errors.ts';
import type { Deadline, RouterAdapter } from '../routers/adapter.ts';
import { runCommand } from './run-command.ts';

/**
 * Deadline of each clean-up command. It is separate from the request's, because the operation to undo often failed at that deadline.
 */
export const CLEAN_UP_DEADLINE: Deadline = { timeoutMs: 10_000 };

/** Limit of attempts: concurrent removal by another party explains one or two refusals, not more. */
const ATTEMPTS = 3;

/**
 * Removes items of a menu. If another party removes one of them at the same time, the router refuses the command; the items are then
 * searched again. @returns how many were removed @throws AgentError
 */
export async function removeFound(router: RouterAdapter, menu: string, find: () => Promise<string[]>, deadline: Deadline): Promise<number> {
  for (let attempt = 1; ; attempt += 1) {
    const ids = await find();
    if (ids.length === 0) return 0;
    try {
      await runCommand(router, { path: `${menu}/remove`, words: [`=.id=${ids.join(',')}`] }, deadline);
      return ids.length;
    } catch (error) {
      if (attempt === ATTEMPTS || !(error instanceof AgentError) || error.code !== 'rejected') throw error;
    }
  }
}
