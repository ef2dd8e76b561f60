import type { HaltMode } from '../postgres-server.ts';
import type { Program } from '../program.ts';
import type { Chance } from '../jobs/random.ts';
import type { AgentMachine } from './agent-machine.ts';
import type { ChaosWorld } from './chaos-world.ts';
import { clusterActions } from './cluster-faults.ts';
import type { Line, Step } from './line.ts';
import { CORRUPTIONS } from './line.ts';

/** Messages of the hand-over, at which a process is killed right before or right after they pass. */
const STEPS: readonly [string, Step['direction']][] = [
  ['hello', 'to-server'],
  ['welcome', 'to-agent'],
  ['ready', 'to-server'],
  ['job.offer', 'to-agent'],
  ['job.accepted', 'to-server'],
  ['job.go', 'to-agent'],
  ['job.began', 'to-server'],
  ['job.ended', 'to-server'],
  ['job.ack', 'to-agent'],
];
/** Longest wait for a message, milliseconds. */
const STEP_WITHIN_MS = 3000;
/** Pause between two faults on a quiet machine, milliseconds: a restarted program can work meanwhile. */
export const PAUSE_MS = { least: 200, most: 1200 };
const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;
/** Error of a server's or agent's clock, back or forth; the next step corrects it. */
const CLOCK_STEPS_MS = [1000, 1000, 2 * HOUR_MS, 2 * HOUR_MS, 24 * HOUR_MS];
/** An SSH connection that carries too little in this time is not corrupted, milliseconds. */
const CORRUPT_WITHIN_MS = 10_000;
/** Of one direction of an SSH line: a handshake says 3,000 bytes or so. */
const CORRUPT_AFTER_BYTES = 6000;

/** Kinds of faults that can be left out. */
export const OPTIONAL_FAULTS = ['postgres', 'clock', 'ssh'] as const;
export type OptionalFault = (typeof OPTIONAL_FAULTS)[number];

export interface Action {
  weight: number;
  name: string;
  /** The target of the fault: two concurrent faults do not hit the same target. */
  target: string;
  /** Name under which the fault is counted: its own by default, not at all when `false`. */
  work: () => Promise<void | string | false>;
}

/** Causes one fault after another, and repairs each a little later. */
export class Breaker {
  /** How often each kind of fault happened. */
  readonly faults: Record<string, number> = {};
  readonly #world: ChaosWorld;
  readonly #chance: Chance;
  readonly #with: ReadonlySet<OptionalFault>;
  readonly #pauseMs: typeof PAUSE_MS;
  /** Error of each clock, milliseconds. */
  readonly #errors = new Map<string, number>();
  readonly #busy = new Set<string>();
  readonly #mending = new Set<Promise<void>>();

  constructor(world: ChaosWorld, chance: Chance, faults: readonly OptionalFault[], pauseMs: typeof PAUSE_MS) {
    this.#pauseMs = pauseMs;
    this.#world = world;
    this.#chance = chance;
    this.#with = new Set(faults);
  }

  /** Runs until stopped; then everything is repaired. */
  async run(signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      await this.#pause(this.#pauseMs.least * this.#world.slowness, this.#pauseMs.most * this.#world.slowness);
      this.startWhatFell();
      const actions = [...this.#serverActions(), ...this.#agentActions(), ...this.#routerActions()].filter(
        ({ target, weight }) => weight > 0 && !this.#busy.has(target),
      );
      this.#begin(this.#pick(actions));
    }
    await Promise.all(this.#mending);
    await this.#heal();
  }

  async #heal(): Promise<void> {
    await this.#world.setServerClock(0);
    for (const agent of this.#world.agents) await agent.setClock(0);
    this.startWhatFell();
  }

  /** Restarts every program that has exited by itself, as a supervisor does. */
  startWhatFell(): void {
    const programs: [string, Program][] = [
      ...this.#world.servers.map((server, index): [string, Program] => [`server ${index}`, server]),
      ...this.#world.agents.map((agent, index): [string, Program] => [`agent ${index}`, agent.program]),
    ];
    for (const [name, program] of programs) {
      if (this.#busy.has(name) || program.isRunning) continue;
      program.start();
    }
  }

  #begin({ name, target, work }: Action): void {
    this.#busy.add(target);
    const mended: Promise<void> = work()
      .then((happened) => this.#count(happened ?? name))
      .finally(() => {
        this.#busy.delete(target);
        this.#mending.delete(mended);
      });
    this.#mending.add(mended);
  }

  #count(fault: string | false): void {
    if (fault !== false) this.faults[fault] = (this.faults[fault] ?? 0) + 1;
  }

  #pick(actions: Action[]): Action {
    let at = this.#chance.next() * actions.reduce((sum, { weight }) => sum + weight, 0);
    return actions.find(({ weight }) => (at -= weight) < 0) ?? actions[0]!;
  }

  #serverActions(): Action[] {
    const { cluster } = this.#world;
    if (cluster) return [...clusterActions(this.#world, cluster, this.#chance), ...this.#postgresActions()];
    const { servers, data, canFillData } = this.#world;
    const server = servers[0]!;
    const target = 'server 0';
    return [
      { weight: 4, name: 'server killed', target, work: () => this.#killed(server, 800) },
      { weight: 3, name: 'server killed at a step', target, work: () => this.#killedAtStep(server, this.#chance.pick(this.#world.agents)) },
      { weight: 2, name: 'server stopped and continued', target, work: () => this.#stopped(server) },
      { weight: canFillData ? 2 : 0, name: 'server disk full', target, work: () => this.#filled(data) },
      {
        weight: this.#with.has('clock') ? 2.5 : 0,
        name: 'server clock',
        target,
        work: () => this.#step('server', (error) => this.#world.setServerClock(error)),
      },
      ...this.#postgresActions(),
    ];
  }

  #postgresActions(): Action[] {
    const { postgres } = this.#world;
    if (!postgres || !this.#with.has('postgres')) return [];
    const restart = (mode: HaltMode, least: number, most: number) => async (): Promise<void> => {
      await postgres.halt(mode);
      await this.#pause(least, most);
      await postgres.resume();
    };
    const target = 'postgres';
    return [
      { weight: 2.5, name: 'PostgreSQL restarted (fast)', target, work: restart('fast', 0, 0) },
      { weight: 2.5, name: 'PostgreSQL restarted (immediate)', target, work: restart('immediate', 0, 0) },
      { weight: 1.5, name: 'PostgreSQL away for seconds', target, work: restart(this.#chance.pick(['fast', 'immediate']), 2000, 12_000) },
    ];
  }

  #agentActions(): Action[] {
    return this.#world.agents.flatMap((agent, index): Action[] => {
      const target = `agent ${index}`;
      const line = `line ${index}`;
      const { program, disk } = agent;
      return [
        { weight: 3, name: 'agent killed', target, work: () => this.#killed(program, 500) },
        { weight: 3, name: 'agent killed at a step', target, work: () => this.#killedAtStep(program, agent) },
        { weight: 1.5, name: 'agent stopped and continued', target, work: () => this.#stopped(program) },
        { weight: disk.canBeFilled ? 1.5 : 0, name: 'agent disk full', target, work: () => this.#filled(disk) },
        {
          weight: this.#with.has('clock') ? 1.5 : 0,
          name: 'agent clock',
          target,
          work: () => this.#step(target, (error) => agent.setClock(error)),
        },
        { weight: 2, name: 'agent disk copied', target, work: () => agent.takeImage() },
        { weight: 0.4, name: 'agent disk restored', target, work: () => this.#replaced(agent, () => agent.restoreImage()) },
        { weight: 0.25, name: 'agent disk wiped', target, work: () => this.#replaced(agent, () => agent.wipe()) },
        { weight: 0.3, name: 'agent a second time', target: `twin ${index}`, work: () => this.#twin(agent) },
        { weight: 2, name: 'tunnel cut', target: line, work: async () => agent.line.cut() },
        { weight: 1.5, name: 'tunnel half-open', target: line, work: () => this.#stalled(agent.line) },
      ];
    });
  }

  #routerActions(): Action[] {
    const { fleet, routerLines } = this.#world;
    const corrupts = this.#with.has('ssh');
    return routerLines.flatMap(([api, ssh], router): Action[] => {
      const target = `router ${router}`;
      return [
        { weight: 0.6, name: 'router sessions reset', target, work: async () => void (await fleet.ask({ method: 'reset', router })) },
        {
          weight: 0.5,
          name: 'router rebooted',
          target,
          work: async () => void (await fleet.ask({ method: 'reboot', router, downMs: this.#chance.int(0, 20_000) })),
        },
        { weight: 0.4, name: 'router away', target, work: () => this.#away(router) },
        {
          weight: 0.2,
          name: 'router clock set',
          target,
          work: async () => void (await fleet.ask({ method: 'setClock', router, byMs: this.#wrongBy() })),
        },
        { weight: 0.4, name: 'router line cut', target, work: async () => [api!, ssh!].forEach((line) => line.cut()) },
        {
          weight: 0.3,
          name: 'router line half-open',
          target,
          work: async () => void (await Promise.all([this.#stalled(api!), this.#stalled(ssh!)])),
        },
        {
          weight: corrupts && fleet.ports[router]!.ssh !== 0 ? 2 : 0,
          name: 'SSH',
          target: `ssh ${router}`,
          work: () => this.#corrupted(ssh!),
        },
      ];
    });
  }

  async #killed(program: Program, downMs: number): Promise<void> {
    await program.kill();
    await this.#pause(0, downMs);
    program.start();
  }

  async #killedAtStep(program: Program, agent: AgentMachine): Promise<void> {
    const [type, direction] = this.#chance.pick(STEPS);
    const seen = agent.line.watch({ direction, text: `"type":"${type}"`, when: this.#chance.pick(['before', 'after']) });
    await Promise.race([seen, this.#pause(STEP_WITHIN_MS, STEP_WITHIN_MS)]);
    await this.#killed(program, 300);
    agent.line.cut();
  }

  async #stopped(program: Program): Promise<void> {
    program.signal('SIGSTOP');
    await this.#pause(300, 5000);
    program.signal('SIGCONT');
  }

  async #filled(disk: { fill(): Promise<void>; empty(): Promise<void> }): Promise<void> {
    await disk.fill();
    await this.#pause(500, 4000);
    await disk.empty();
  }

  async #replaced(agent: AgentMachine, replace: () => Promise<void>): Promise<void> {
    await agent.program.kill();
    await replace();
    agent.program.start();
  }

  async #twin(agent: AgentMachine): Promise<void> {
    const twin = await agent.twin();
    twin.start();
    await this.#pause(1500, 6000);
    await twin.kill();
  }

  /** A half-open connection is noticed by its ends after a while; here the network ends it before that. */
  async #stalled(line: { stall(): void; cut(): void }): Promise<void> {
    line.stall();
    await this.#pause(500, 6000);
    line.cut();
  }

  async #corrupted(ssh: Line): Promise<string | false> {
    const fault = this.#chance.pick(CORRUPTIONS);
    const [direction, afterBytes] = [this.#chance.pick(['to-server', 'to-agent'] as const), this.#chance.int(0, CORRUPT_AFTER_BYTES)];
    const happened = ssh.corrupt({ fault, direction, afterBytes, seed: this.#chance.int(0, 2 ** 30) }).then(() => true);
    const tooLate = this.#pause(CORRUPT_WITHIN_MS, CORRUPT_WITHIN_MS).then(() => false);
    if (!(await Promise.race([happened, tooLate]))) {
      ssh.calm();
      return false;
    }
    if (fault === 'stall') {
      await this.#pause(500, 20_000);
      ssh.cut();
    }
    return `SSH ${fault}`;
  }

  /** One second, two hours or a day, back or forth; and by the same the other way at the next time. */
  async #step(whose: string, set: (errorMs: number) => Promise<void>): Promise<string> {
    const before = this.#errors.get(whose) ?? 0;
    const error = before === 0 ? this.#chance.pick([-1, 1]) * this.#chance.pick(CLOCK_STEPS_MS) : 0;
    this.#errors.set(whose, error);
    await set(error);
    const step = error - before;
    return `${whose.split(' ')[0]!} clock ${step > 0 ? '+' : '-'}${Math.abs(step) / 1000} s`;
  }

  async #away(router: number): Promise<void> {
    const { fleet } = this.#world;
    await fleet.ask({ method: 'refuse', router, on: true });
    await fleet.ask({ method: 'reset', router });
    await this.#pause(500, 4000);
    await fleet.ask({ method: 'refuse', router, on: false });
  }

  /** Seconds to hours, back or forth, and sometimes right again; milliseconds. */
  #wrongBy(): number {
    return this.#chance.happens(0.3) ? 0 : this.#chance.pick([-1, 1]) * this.#chance.pick([5000, 3 * MINUTE_MS, 90 * MINUTE_MS]);
  }

  #pause(least: number, most: number): Promise<void> {
    const ms = this.#chance.int(Math.round(least), Math.round(most));
    return new Promise((resolve) => setTimeout(resolve, ms));
  }
}
