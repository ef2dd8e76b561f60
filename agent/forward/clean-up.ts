import { AgentError } from '../core/errors.ts';
import type { Deadline, RouterAdapter } from '../routers/adapter.ts';
import { runCommand } from './run-command.ts';

/**
 * For each command of a clean-up, whose deadline is its own: what has to be undone often failed because the time of
 * whoever asked for it was over.
 */
export const CLEAN_UP_DEADLINE: Deadline = { timeoutMs: 10_000 };

/** More is not somebody who tidies up at the same time. */
const ATTEMPTS = 3;

/**
 * Removes items of a menu. Where somebody else removes one of them at the same time, the router refuses the command, so
 * they are looked for again. @returns how many were removed @throws AgentError
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
