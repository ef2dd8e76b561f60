import { MAX_RETURN_CHARS } from '../../protocol/index.ts';
import { bulkThrottle } from '../../runtime/bulk-throttle.ts';
import { AgentError } from '../core/errors.ts';
import type { Routers } from '../core/routers.ts';
import { findRouter } from '../core/routers.ts';
import type { RouterRow } from '../routers/adapter.ts';

export interface CommandParams {
  router: string;
  hardware_id: string;
  path: string;
  words: string[];
}

export interface CommandContext {
  /** Remaining time of the caller's deadline, in milliseconds. */
  timeoutMs: number;
  signal: AbortSignal;
  /** Sends a long reply in batches; resolves when the tunnel can take more. */
  sendRows(rows: RouterRow[]): Promise<void>;
}

/** Handles `command` requests: runs one command on one router and sends its rows. Stateless. */
export function createCommandHandler(routers: Routers) {
  return async (params: CommandParams, context: CommandContext): Promise<{ ret?: string }> => {
    bulkThrottle.commandStarted();
    const router = findRouter(routers, params.router, params.hardware_id);
    const { path, words } = params;
    const reply = await router.command({ path, words }, { timeoutMs: context.timeoutMs, signal: context.signal });
    if (reply.ret !== undefined && reply.ret.length > MAX_RETURN_CHARS) {
      throw new AgentError('outcome_unknown', `the router answered with more than ${MAX_RETURN_CHARS} characters of text`);
    }
    await context.sendRows(reply.rows);
    return reply.ret === undefined ? {} : { ret: reply.ret };
  };
}
