import { AgentError } from '../../core/errors.ts';
import { uptimeSpanIn } from '../../core/router-uptime.ts';
import type { Deadline, RouterAdapter } from '../../routers/adapter.ts';
import { menuOf } from '../router/menu-of.ts';
import { guardNameOf, mayBeLoading } from './timing.ts';
import type { GuardTime, LoadTimes } from './timing.ts';

/**
 * Removes the undo guard of one job. The router may already be loading the restore point: it then answers as before until it reboots, the
 * load goes on without the scheduler entry, and what runs meanwhile is undone. So a guard counts as removed only when no load can have
 * begun, or after the reboot. One instance serves all attempts: an attempt whose answer was lost may have removed the entry.
 */
export class GuardRemoval {
  readonly #router: RouterAdapter;
  readonly #name: string;
  readonly #times: LoadTimes;
  #time: GuardTime | undefined;
  /** Uptime of the router at the last check, seconds. */
  #uptime: number;

  /** @param time when the guard fires, if a record says so; its entry, if it is there, is believed rather than the record */
  constructor(router: RouterAdapter, jobId: string, times: LoadTimes, time?: GuardTime) {
    this.#router = router;
    this.#name = guardNameOf(jobId);
    this.#times = times;
    this.#time = time;
    this.#uptime = time?.armedAt ?? 0;
  }

  /**
   * Removes the entry, then its restore point, which has no effect without the entry.
   * @throws AgentError `router_unreachable` while the router may be loading the restore point
   */
  async remove(deadline: Deadline): Promise<void> {
    const menu = menuOf(this.#router);
    const entry = await menu.findEntry(this.#name, deadline);
    if (entry) {
      this.#time = uptimeSpanIn(entry.source);
      await this.#expectNoLoad(this.#times.marginSeconds, deadline);
      await menu.removeEntry(this.#name, deadline);
    } else if (await this.#hasRebooted(deadline)) {
      this.#time = undefined;
    }
    await this.#expectNoLoad(0, deadline);
    for (const file of await menu.listFiles(this.#name, deadline)) await menu.removeFile(file, deadline);
  }

  /** Without its entry: a load that had begun is over. */
  async #hasRebooted(deadline: Deadline): Promise<boolean> {
    if (!this.#time) return false;
    const before = this.#uptime;
    return (await this.#readUptime(deadline)) < before;
  }

  async #expectNoLoad(marginSeconds: number, deadline: Deadline): Promise<void> {
    if (!this.#time) return;
    const uptime = await this.#readUptime(deadline);
    if (!mayBeLoading(this.#time, uptime, { ...this.#times, marginSeconds })) return;
    throw new AgentError('router_unreachable', 'the time of the undo guard is over, and the router may be restoring its configuration');
  }

  async #readUptime(deadline: Deadline): Promise<number> {
    const { uptimeSeconds } = await this.#router.refresh(deadline);
    if (uptimeSeconds === null) throw new AgentError('router_unreachable', 'the uptime of the router cannot be read');
    this.#uptime = uptimeSeconds;
    return uptimeSeconds;
  }
}
