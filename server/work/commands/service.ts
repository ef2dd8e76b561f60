import { bulkThrottle } from '../../../runtime/bulk-throttle.ts';
import type { AgentGateway } from '../../platform/core/agent-gateway.ts';
import { AppError } from '../../platform/core/errors.ts';
import type { RoutersService } from '../../fleet/routers/service.ts';
import { parseCommand } from './parse.ts';
import { RowsText } from './rows.ts';

/** Longest wait for a router's answer unless the caller asks for another. */
export const DEFAULT_TIMEOUT_MS = 30_000;

export interface CommandRequest {
  command: string;
  parameters: string | readonly string[];
  timeoutMs: number;
}

/** Synchronous commands: runs the command on the router now and answers in the same HTTP request. Nothing is stored. */
export class CommandsService {
  readonly #routers: RoutersService;
  readonly #gateway: AgentGateway;

  constructor(deps: { routers: RoutersService; gateway: AgentGateway }) {
    this.#routers = deps.routers;
    this.#gateway = deps.gateway;
  }

  /**
   * @returns the router's rows as a JSON array; a command that only returns a value (`add`) gives one row `{ret}`
   * @throws AppError `invalid`, `not_found`, `rejected_by_router` with the router's own words, `agent_offline` or
   *   `router_unreachable` at once, `outcome_unknown` after the time-out
   */
  async run(teamId: string, routerId: string, request: CommandRequest, signal: AbortSignal): Promise<string> {
    const router = await this.#routers.getRouter(teamId, routerId);
    const { path, words } = parseCommand(request.command, request.parameters);
    // Its entry leads to another device now.
    if (router.agent_router === '') {
      throw new AppError('router_unreachable', 'another device answers at the address of this router');
    }
    bulkThrottle.commandStarted();
    const rows = new RowsText();
    const result = await this.#gateway.request(
      router.agent_id,
      'command',
      { router: router.agent_router, hardware_id: router.hardware_id, path, words },
      { timeoutMs: request.timeoutMs, signal, onRows: (batch) => rows.add(batch) },
    );
    if (result.ret !== undefined) rows.add([{ ret: result.ret }]);
    return rows.toString();
  }
}
