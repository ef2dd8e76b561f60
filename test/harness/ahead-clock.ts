import { systemClock as agentSystemClock } from '../../agent/core/clock.ts';
import type { Clock as AgentClock } from '../../agent/core/clock.ts';
import type { Clock } from '../../server/platform/core/clock.ts';

/** The machine's own time, ahead by what the test says. Timers keep their length, so only what compares times notices. */
export class AheadClock implements Clock, AgentClock {
  #ahead = 0;

  jump(ms: number): void {
    this.#ahead += ms;
  }

  now(): number {
    return agentSystemClock.now() + this.#ahead;
  }

  monotonic(): number {
    return agentSystemClock.monotonic() + this.#ahead;
  }

  sinceBoot(): number {
    return agentSystemClock.sinceBoot() + this.#ahead;
  }

  setTimeout(callback: () => void, ms: number): { cancel(): void } {
    return agentSystemClock.setTimeout(callback, ms);
  }
}
