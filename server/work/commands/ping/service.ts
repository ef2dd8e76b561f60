import { bulkThrottle } from '../../../../runtime/bulk-throttle.ts';
import type { RoutersService } from '../../../fleet/routers/service.ts';
import type { RouterRecord } from '../../../fleet/routers/types.ts';
import type { StatesService } from '../../../fleet/states/service.ts';
import type { AgentGateway } from '../../../platform/core/agent-gateway.ts';
import type { Clock } from '../../../platform/core/clock.ts';
import { AppError } from '../../../platform/core/errors.ts';

export interface PingDeps {
  routers: Pick<RoutersService, 'getRouter'>;
  states: Pick<StatesService, 'of'>;
  gateway: Pick<AgentGateway, 'request' | 'epoch'>;
  clock: Pick<Clock, 'monotonic'>;
}

export interface PingRequest {
  /** Probes, one after the other. */
  count: number;
  /** For all probes together, milliseconds. */
  timeoutMs: number;
}

/** Round trips in milliseconds, in order; null for a probe without an answer. */
export type RoundTrips = readonly (number | null)[];

/** The shortest answer that every RouterOS version gives. */
const PROBE = { path: '/system/identity/print', words: ['=.proplist=name'] };

/** Measures the way to a router and back: control plane, tunnel, agent, router. Nothing is stored. */
export class PingService {
  readonly #deps: PingDeps;

  constructor(deps: PingDeps) {
    this.#deps = deps;
  }

  /**
   * @throws AppError `not_found`; `agent_offline`, `router_unreachable` with the `reason` of the router's state, or `timeout` when
   *   no probe was answered
   */
  async ping(teamId: string, routerId: string, { count, timeoutMs }: PingRequest, signal: AbortSignal): Promise<RoundTrips> {
    const { routers, clock } = this.#deps;
    const router = await routers.getRouter(teamId, routerId);
    if (router.agent_router === '') throw new AppError('router_unreachable', 'another device answers in the place of this router');
    const endsAt = clock.monotonic() + timeoutMs;
    const times: (number | null)[] = [];
    for (let probe = 0; probe < count; probe += 1) {
      const left = Math.floor(endsAt - clock.monotonic());
      if (left <= 0) break;
      // A lost probe leaves time for the ones behind it.
      times.push(await this.#probe(router, Math.ceil(left / (count - probe)), signal));
    }
    if (times.every((time) => time === null)) {
      throw new AppError('router_unreachable', `the router did not answer within ${timeoutMs / 1000} s`, { extra: { reason: 'timeout' } });
    }
    return times;
  }

  /** @returns the round trip, null without an answer */
  async #probe(router: RouterRecord, timeoutMs: number, signal: AbortSignal): Promise<number | null> {
    const { gateway, clock } = this.#deps;
    bulkThrottle.commandStarted();
    const sentAt = clock.monotonic();
    try {
      const params = { router: router.agent_router, hardware_id: router.hardware_id, ...PROBE };
      await gateway.request(router.agent_id, 'command', params, { timeoutMs, signal, onRows: () => undefined });
      return clock.monotonic() - sentAt;
    } catch (error) {
      if (!(error instanceof AppError)) throw error;
      // A router that refuses has answered.
      if (error.code === 'rejected_by_router') return clock.monotonic() - sentAt;
      if (error.code === 'outcome_unknown' && gateway.epoch(router.agent_id) !== undefined) return null;
      throw this.#withReason(router.id, error);
    }
  }

  /** Adds the word of the router's state: how its agent's tunnel ended, or why the router does not answer its agent. */
  #withReason(routerId: string, error: AppError): AppError {
    if (error.code === 'outcome_unknown') return this.#withReason(routerId, new AppError('agent_offline', 'the tunnel of the agent broke'));
    const state = this.#deps.states.of(routerId);
    const isOfAgent = error.code === 'agent_offline' && state?.state === 'agent_away';
    const isOfRouter = error.code === 'router_unreachable' && state?.state === 'not_answering';
    if (!isOfAgent && !isOfRouter) return error;
    return new AppError(error.code, error.message, { cause: error, extra: { reason: state.reason, ...error.extra } });
  }
}
