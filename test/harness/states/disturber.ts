import { setTimeout as sleep } from 'node:timers/promises';
import type { Chance } from '../jobs/random.ts';
import type { ShownState, Stand } from '../stand.ts';
import { waitUntil } from '../wait-until.ts';
import type { World } from '../world.ts';

/** What must be shown of a router while everything holds still. Without a reason any is right. */
export interface Truth {
  stand: Stand;
  state: ShownState['state'];
  reason?: string | null;
}

/** What was done to one router and its agent, and is not undone. */
interface Harm {
  agentStopped: boolean;
  passwordChanged: boolean;
  poweredOff: boolean;
  stalledUntil: number;
}

type Act = (this: Disturber, stand: Stand, harm: Harm) => Promise<void> | void;

/** How often the control plane restarts: every restart loses all tunnels. */
const RESTART_SHARE = 0.04;
/**
 * In every other restart no agent can come back at once: what the start finds changed has to be told, too. So long, in milliseconds: longer
 * than an event may take.
 */
const LONELY_MS = [7000, 12_000] as const;
/** Between two disturbances, milliseconds. */
const PAUSE_MS = [100, 2500] as const;
/** Of a silent line, milliseconds: some are noticed (after 45 s) and most are not. */
const STALL_MS = [500, 60_000] as const;
/** An agent dials again after up to a minute, when it was refused often. */
const CALM_MS = 120_000;

/** Makes agents, routers, lines and the control plane come and go, and knows what must be shown once it stops. */
export class Disturber {
  readonly #world: World;
  readonly #chance: Chance;
  readonly #harms: Map<Stand, Harm>;
  readonly #done = new Map<string, number>();
  #restarts = 0;

  constructor(world: World, stands: readonly Stand[], chance: Chance) {
    this.#world = world;
    this.#chance = chance;
    this.#harms = new Map(
      stands.map((stand) => [stand, { agentStopped: false, passwordChanged: false, poweredOff: false, stalledUntil: 0 }]),
    );
  }

  async disturb(ms: number): Promise<void> {
    const end = performance.now() + ms;
    while (performance.now() < end) {
      await this.#disturbOnce();
      await sleep(this.#chance.int(...PAUSE_MS));
    }
  }

  /** Lines carry again; agents and routers stay as they are. Resolves when all shown states can be right. */
  async holdStill(): Promise<void> {
    for (const [stand, harm] of this.#harms) await this.#flow(stand, harm);
    await Promise.all(this.truths().map(({ stand, state, reason }) => this.#isShown(stand, state, reason)));
  }

  truths(): Truth[] {
    return [...this.#harms].map(([stand, { agentStopped, passwordChanged, poweredOff }]) => {
      if (agentStopped) return { stand, state: 'agent_away' };
      if (poweredOff) return { stand, state: 'not_answering', reason: 'closed' };
      if (passwordChanged) return { stand, state: 'not_answering', reason: 'login_refused' };
      return { stand, state: 'answering', reason: null };
    });
  }

  /** What was done how often. */
  report(): string {
    return [...this.#done].map(([what, count]) => `${what} ${count}`).join(', ');
  }

  async #isShown(stand: Stand, state: string, reason: string | null | undefined): Promise<void> {
    await waitUntil(
      `${stand.name} is ${state}, ${reason ?? 'for any reason'}`,
      async () => {
        const shown = await stand.read();
        return shown.state === state && (reason === undefined || shown.state_reason === reason);
      },
      CALM_MS,
    );
  }

  async #disturbOnce(): Promise<void> {
    if (this.#chance.happens(RESTART_SHARE)) {
      await this.#restart();
      return;
    }
    const [stand, harm] = this.#chance.pick([...this.#harms]);
    if (harm.stalledUntil > 0 && performance.now() > harm.stalledUntil) await this.#flow(stand, harm);
    const acts: readonly Act[] = [this.#toggleAgent, this.#togglePassword, this.#togglePower, this.#cut, this.#stall, this.#reset];
    const act = this.#chance.pick(acts);
    await act.call(this, stand, harm);
  }

  async #restart(): Promise<void> {
    this.#restarts += 1;
    const isLonely = this.#restarts % 2 === 1;
    this.#count(isLonely ? 'control plane restarted without agents' : 'control plane restarted');
    if (isLonely) for (const [stand] of this.#harms) stand.tunnelLine.stall();
    await this.#world.restartServer();
    if (!isLonely) return;
    await sleep(this.#chance.int(...LONELY_MS));
    for (const [stand, harm] of this.#harms) {
      harm.stalledUntil = 0;
      stand.tunnelLine.flow();
      stand.tunnelLine.cut();
    }
  }

  async #toggleAgent(stand: Stand, harm: Harm): Promise<void> {
    this.#count(harm.agentStopped ? 'agent started' : 'agent stopped');
    await (harm.agentStopped ? stand.startAgent() : stand.stopAgent());
    harm.agentStopped = !harm.agentStopped;
  }

  #togglePassword(stand: Stand, harm: Harm): void {
    this.#count(harm.passwordChanged ? 'password restored' : 'password changed');
    if (harm.passwordChanged) stand.restoreRouterPassword();
    else stand.setRouterPassword('another');
    harm.passwordChanged = !harm.passwordChanged;
  }

  async #togglePower(stand: Stand, harm: Harm): Promise<void> {
    this.#count(harm.poweredOff ? 'router switched on' : 'router switched off');
    if (harm.poweredOff) stand.simulator.router.boot();
    else await stand.simulator.router.powerOff();
    harm.poweredOff = !harm.poweredOff;
  }

  #cut(stand: Stand): void {
    this.#count('line cut');
    stand.tunnelLine.cut();
  }

  #stall(stand: Stand, harm: Harm): void {
    this.#count('line silent');
    stand.tunnelLine.stall();
    harm.stalledUntil = performance.now() + this.#chance.int(...STALL_MS);
  }

  #reset(stand: Stand): void {
    this.#count('router connections reset');
    stand.simulator.faults.resetConnections();
  }

  /** What was lost on a silent line is lost: its connections have to end. */
  async #flow(stand: Stand, harm: Harm): Promise<void> {
    if (harm.stalledUntil === 0) return;
    harm.stalledUntil = 0;
    stand.tunnelLine.flow();
    stand.tunnelLine.cut();
  }

  #count(what: string): void {
    this.#done.set(what, (this.#done.get(what) ?? 0) + 1);
  }
}
