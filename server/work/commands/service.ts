import { MAX_REPLY_BYTES } from '../../../protocol/index.ts';
import { bulkPace } from '../../../runtime/bulk-pace.ts';
import type { AgentGateway } from '../../platform/core/agent-gateway.ts';
import { AppError } from '../../platform/core/errors.ts';
import type { RoutersService } from '../../fleet/routers/service.ts';
import { parseCommand } from './parse.ts';
import { toPublicRow } from './rows.ts';

/** Longest wait for a router's answer unless the caller asks for another. */
export const DEFAULT_TIMEOUT_MS = 30_000;

export interface CommandRequest {
  command: string;
  parameters: string | readonly string[];
  timeoutMs: number;
}

/** Synchronous commands: ask the router now, answer in the same HTTP request. Nothing is stored. */
export class CommandsService {
  readonly #routers: RoutersService;
  readonly #gateway: AgentGateway;

  constructor(deps: { routers: RoutersService; gateway: AgentGateway }) {
    this.#routers = deps.routers;
    this.#gateway = deps.gateway;
  }

  /**
   * @returns the router's rows; a command that only returns a value (`add`) gives one row `{ret}`
   * @throws AppError `invalid`, `not_found`, `rejected_by_router` with the router's own words, `agent_offline` or
   *   `router_unreachable` at once, `outcome_unknown` after the time-out
   */
  async run(teamId: string, routerId: string, request: CommandRequest, signal: AbortSignal): Promise<Record<string, string>[]> {
    const router = await this.#routers.getRouter(teamId, routerId);
    const { path, words } = parseCommand(request.command, request.parameters);
    if (router.agent_router === '') {
      throw new AppError('router_unreachable', 'another device answers in the place of this router');
    }
    bulkPace.commandBegins();
    const rows: Record<string, string>[] = [];
    let size = 0;
    const result = await this.#gateway.request(
      router.agent_id,
      'command',
      { router: router.agent_router, hardware_id: router.hardware_id, path, words },
      {
        timeoutMs: request.timeoutMs,
        signal,
        onRows(batch) {
          for (const row of batch) size += sizeOf(row);
          // The tunnel enforces the same limit; this one only keeps a peer of another build from growing the process.
          if (size <= MAX_REPLY_BYTES) rows.push(...batch.map(toPublicRow));
        },
      },
    );
    if (size > MAX_REPLY_BYTES) throw new AppError('too_large', 'the reply is larger than 16 MiB; narrow it with .proplist or a query');
    return result.ret === undefined ? rows : [...rows, { ret: result.ret }];
  }
}

function sizeOf(row: Record<string, string>): number {
  let size = 0;
  for (const [name, value] of Object.entries(row)) size += name.length + value.length;
  return size;
}
