import { setTimeout as sleep } from 'node:timers/promises';
import type { Chance } from '../jobs/random.ts';
import type { ChaosAgent, ChaosRouter } from './chaos-agent.ts';
import type { ChaosFleet } from './chaos-fleet.ts';

/** What must be shown of a router while everything holds still. Without a reason any is right. */
export interface Truth {
  router: ChaosRouter;
  state: string;
  reason?: string | null;
}

/** What was done to one agent, or to one router, and is not undone. */
interface AgentHarm {
  isDown: boolean;
  isFrozen: boolean;
  /** When its silent line carries again; 0 while it does. */
  silentUntil: number;
  clockError: number;
}
interface RouterHarm {
  passwordChanged: boolean;
  poweredOff: boolean;
}

/** How often something is done to the control plane: every restart loses all tunnels. */
const SERVER_SHARE = 0.06;
/** Of its restarts, those after which no agent can come back at once: what the start finds changed has to be told, too. */
const LONELY_SHARE = 0.5;
/** So long, milliseconds: longer than an event may take. */
const LONELY_MS = [9000, 14_000] as const;
/** Between two disturbances, milliseconds. */
const PAUSE_MS = [100, 2500] as const;
/** Of a silent line, milliseconds: some are noticed (after 45 s) and most are not. */
const SILENT_MS = [500, 60_000] as const;
/** Of a control plane between two runs, milliseconds. */
const DOWN_MS = [0, 4000] as const;
const HOUR_MS = 3_600_000;
/** The control plane looks at its clock every second; on a busy machine later. */
const CLOCK_NOTICED_MS = 3000;
/** Error of a clock, ahead or behind; the next step corrects it. */
const CLOCK_ERRORS_MS = [1500, 90_000, 2 * HOUR_MS, 24 * HOUR_MS];

/** Makes agents, routers, lines, clocks and the control plane come, go and jump, and knows what must be shown once it stops. */
export class Disturber {
  readonly #fleet: ChaosFleet;
  readonly #chance: Chance;
  readonly #agents: Map<ChaosAgent, AgentHarm>;
  readonly #routers: Map<ChaosRouter, RouterHarm>;
  readonly #done = new Map<string, number>();
  #serverClockError = 0;

  constructor(fleet: ChaosFleet, chance: Chance) {
    this.#fleet = fleet;
    this.#chance = chance;
    this.#agents = new Map(fleet.agents.map((agent) => [agent, { isDown: false, isFrozen: false, silentUntil: 0, clockError: 0 }]));
    this.#routers = new Map(fleet.routers.map((router) => [router, { passwordChanged: false, poweredOff: false }]));
  }

  async disturb(ms: number): Promise<void> {
    const end = performance.now() + ms;
    while (performance.now() < end) {
      await this.#disturbOnce();
      await sleep(this.#chance.int(...PAUSE_MS));
    }
  }

  /** Lines carry again and frozen agents run; whatever is off or down stays so. */
  holdStill(): void {
    for (const [agent, harm] of this.#agents) {
      if (harm.isFrozen) this.#thaw(agent, harm);
      if (harm.silentUntil > 0) this.#flow(agent, harm);
    }
  }

  truths(): Truth[] {
    return [...this.#agents].flatMap(([agent, { isDown }]) =>
      agent.routers.map((router): Truth => {
        const { poweredOff, passwordChanged } = this.#routers.get(router)!;
        if (isDown) return { router, state: 'agent_away' };
        if (poweredOff) return { router, state: 'not_answering', reason: 'closed' };
        if (passwordChanged) return { router, state: 'not_answering', reason: 'login_refused' };
        return { router, state: 'answering', reason: null };
      }),
    );
  }

  /** What was done how often. */
  report(): string {
    return [...this.#done].map(([what, count]) => `${what} ${count}`).join(', ');
  }

  /** @param isLonely no agent can come back before what the start has found must have been told */
  async killServer({ isLonely }: { isLonely: boolean }): Promise<void> {
    this.#count(isLonely ? 'control plane killed, agents away' : 'control plane killed');
    await this.#restart(() => this.#fleet.killServer(), isLonely);
  }

  async #stopServer({ isLonely }: { isLonely: boolean }): Promise<void> {
    this.#count(isLonely ? 'control plane restarted, agents away' : 'control plane restarted');
    await this.#restart(async () => void (await this.#fleet.server.stop()), isLonely);
  }

  async #restart(end: () => Promise<void>, isLonely: boolean): Promise<void> {
    if (isLonely) for (const [{ line }] of this.#agents) line.stall();
    await end();
    await sleep(this.#chance.int(...DOWN_MS));
    await this.#fleet.startServer();
    if (!isLonely) return;
    await sleep(this.#chance.int(...LONELY_MS));
    for (const [agent, harm] of this.#agents) this.#flow(agent, harm);
  }

  async #stepServerClock(): Promise<void> {
    this.#count('clock of the control plane set');
    this.#serverClockError = this.#otherError(this.#serverClockError);
    await this.#fleet.setServerClock(this.#serverClockError);
    await sleep(CLOCK_NOTICED_MS);
  }

  async #disturbOnce(): Promise<void> {
    if (this.#chance.happens(SERVER_SHARE)) {
      const isLonely = this.#chance.happens(LONELY_SHARE);
      const acts = [() => this.killServer({ isLonely }), () => this.#stopServer({ isLonely }), () => this.#stepServerClock()];
      await this.#chance.pick(acts)();
      return;
    }
    const [agent, harm] = this.#chance.pick([...this.#agents]);
    if (harm.silentUntil > 0 && performance.now() > harm.silentUntil) this.#flow(agent, harm);
    const router = this.#chance.pick(agent.routers);
    const routerHarm = this.#routers.get(router)!;
    const acts: (() => Promise<void> | void)[] = [
      () => this.#toggleAgent(agent, harm),
      () => this.#killAgent(agent, harm),
      () => this.#toggleFreeze(agent, harm),
      () => this.#stepAgentClock(agent, harm),
      () => this.#cut(agent),
      () => this.#silence(agent, harm),
      () => this.#togglePower(router, routerHarm),
      () => this.#togglePower(router, routerHarm),
      () => this.#togglePassword(router, routerHarm),
      () => this.#reset(router),
      () => this.#stepRouterClock(router),
    ];
    await this.#chance.pick(acts)();
  }

  async #toggleAgent({ program }: ChaosAgent, harm: AgentHarm): Promise<void> {
    this.#count(harm.isDown ? 'agent started' : 'agent stopped');
    if (harm.isDown) program.start();
    else {
      // A frozen program does not hear that it has to stop.
      program.signal('SIGCONT');
      harm.isFrozen = false;
      await program.stop();
    }
    harm.isDown = !harm.isDown;
  }

  async #killAgent({ program }: ChaosAgent, harm: AgentHarm): Promise<void> {
    this.#count('agent killed');
    await program.kill();
    harm.isFrozen = false;
    if (!harm.isDown) program.start();
  }

  #toggleFreeze(agent: ChaosAgent, harm: AgentHarm): void {
    if (harm.isDown) return;
    this.#count(harm.isFrozen ? 'agent goes on' : 'agent frozen');
    if (harm.isFrozen) this.#thaw(agent, harm);
    else {
      agent.program.signal('SIGSTOP');
      harm.isFrozen = true;
    }
  }

  #thaw({ program }: ChaosAgent, harm: AgentHarm): void {
    program.signal('SIGCONT');
    harm.isFrozen = false;
  }

  async #stepAgentClock(agent: ChaosAgent, harm: AgentHarm): Promise<void> {
    this.#count('clock of an agent set');
    harm.clockError = this.#otherError(harm.clockError);
    await agent.setClock(harm.clockError);
  }

  #stepRouterClock({ simulator }: ChaosRouter): void {
    this.#count('clock of a router set');
    const { clock } = simulator.router;
    clock.setUtc(clock.utcMs() + this.#chance.pick([-1, 1]) * this.#chance.pick(CLOCK_ERRORS_MS));
  }

  #cut({ line }: ChaosAgent): void {
    this.#count('line cut');
    line.cut();
  }

  #silence({ line }: ChaosAgent, harm: AgentHarm): void {
    this.#count('line silent');
    line.stall();
    harm.silentUntil = performance.now() + this.#chance.int(...SILENT_MS);
  }

  /** What was lost on a silent line is lost: its connections have to end. */
  #flow({ line }: ChaosAgent, harm: AgentHarm): void {
    harm.silentUntil = 0;
    line.flow();
    line.cut();
  }

  async #togglePower({ simulator }: ChaosRouter, harm: RouterHarm): Promise<void> {
    this.#count(harm.poweredOff ? 'router switched on' : 'router switched off');
    if (harm.poweredOff) simulator.router.boot();
    else await simulator.router.powerOff();
    harm.poweredOff = !harm.poweredOff;
  }

  #togglePassword(router: ChaosRouter, harm: RouterHarm): void {
    this.#count(harm.passwordChanged ? 'password restored' : 'password changed');
    router.setPassword(harm.passwordChanged);
    harm.passwordChanged = !harm.passwordChanged;
  }

  #reset({ simulator }: ChaosRouter): void {
    this.#count('router connections reset');
    simulator.faults.resetConnections();
  }

  #otherError(error: number): number {
    return error === 0 ? this.#chance.pick([-1, 1]) * this.#chance.pick(CLOCK_ERRORS_MS) : 0;
  }

  #count(what: string): void {
    this.#done.set(what, (this.#done.get(what) ?? 0) + 1);
  }
}
