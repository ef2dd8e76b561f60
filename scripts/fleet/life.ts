import type { RouterReason } from '../../protocol/index.ts';
import type { Fleet } from './fleet.ts';
import type { LightAgent } from './light-agent.ts';
import type { LightRouter } from './light-router.ts';
import { between, pick, seeded } from './random.ts';
import type { Random } from './random.ts';

/** Mean time between two events of a fleet of 500 routers; a larger fleet lives faster. */
const EVENT_MS = 6000;
const MINUTE_MS = 60_000;
/** Of 500 routers, so many are away from the start, for as long as the demonstration runs. */
const AWAY_FROM_START = 9;
const REASONS: readonly RouterReason[] = ['timeout', 'timeout', 'timeout', 'login_refused', 'refused', 'no_route'];

/** What happens to a fleet: some things are broken from the start, others come and go. */
export class Life {
  readonly #fleet: Fleet;
  readonly #random: Random;
  readonly #timers = new Set<NodeJS.Timeout>();

  constructor(fleet: Fleet, seed: number) {
    this.#fleet = fleet;
    this.#random = seeded(seed + 1);
  }

  start(): void {
    this.#breakSome();
    this.#next();
  }

  stop(): void {
    for (const timer of this.#timers) clearTimeout(timer);
    this.#timers.clear();
  }

  #breakSome(): void {
    const all = this.#fleet.routers;
    const count = Math.max(1, Math.round((all.length / 500) * AWAY_FROM_START));
    for (let i = 0; i < count; i += 1) this.#later(between(this.#random, 20, 40) * 1000, () => this.#away(pick(this.#random, all)));
    const ills: ((router: LightRouter) => void)[] = [
      (router) => (router.ills.temperatures = Object.keys(router.plan.model.temperatures).map((name) => ({ name, celsius: 97 }))),
      (router) => (router.ills.voltage = 7.4),
      (router) => (router.ills.free_hdd = 200_000),
      (router) => (router.ills.clock_offset_seconds = 3640),
      (router) =>
        (router.ills.wan = [
          { interface: 'ether1', running: true },
          { interface: 'lte1', running: false },
        ]),
      (router) =>
        (router.ills.states = [
          { name: 'psu1-state', state: 'ok' },
          { name: 'psu2-state', state: 'fail' },
        ]),
    ];
    for (const ill of ills) ill(pick(this.#random, all));
  }

  #next(): void {
    const pause = (EVENT_MS * 500) / Math.max(50, this.#fleet.routers.length);
    this.#later(pause * 2 * this.#random(), () => {
      this.#happen();
      this.#next();
    });
  }

  #happen(): void {
    const chance = this.#random();
    const agent = pick(this.#random, this.#fleet.agents);
    const router = agent.routers.length > 0 ? pick(this.#random, agent.routers) : undefined;
    if (chance < 0.05) agent.cut();
    else if (chance < 0.09) agent.lose(between(this.#random, 1, 6) * MINUTE_MS);
    else if (!router) return;
    else if (chance < 0.4) this.#outage(agent, router);
    else if (chance < 0.55) this.#reboot(agent, router);
    else if (chance < 0.7)
      router.changes.push('/ip firewall address-list', `add address=198.51.100.${between(this.#random, 1, 254)} list=blocked`);
    else this.#rename(agent, router);
  }

  #outage(agent: LightAgent, router: LightRouter): void {
    if (router.isAway) return;
    router.setAway(pick(this.#random, REASONS));
    agent.reportChange(router);
    this.#later(between(this.#random, 1, 10) * MINUTE_MS, () => this.#back(agent, router));
  }

  #reboot(agent: LightAgent, router: LightRouter): void {
    if (router.isAway) return;
    router.setAway('timeout');
    agent.reportChange(router);
    this.#later(between(this.#random, 40, 90) * 1000, () => {
      router.reboot();
      this.#back(agent, router);
    });
  }

  /** Somebody marks a router as in work, and later takes the mark away. */
  #rename(agent: LightAgent, router: LightRouter): void {
    if (router.isAway) return;
    const { identity } = router.plan;
    router.identity = router.identity === identity ? `${identity}-work` : identity;
    agent.reportChange(router);
  }

  #back(agent: LightAgent, router: LightRouter): void {
    router.setAway(null);
    agent.reportChange(router);
  }

  #away(router: LightRouter): void {
    const agent = this.#fleet.agents.find(({ routers }) => routers.includes(router));
    router.setAway(pick(this.#random, REASONS));
    agent?.reportChange(router);
  }

  #later(ms: number, run: () => void): void {
    const timer = setTimeout(() => {
      this.#timers.delete(timer);
      run();
    }, ms);
    this.#timers.add(timer);
  }
}
