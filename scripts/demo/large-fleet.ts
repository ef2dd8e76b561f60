import { rm } from 'node:fs/promises';
import path from 'node:path';
import { Administrator } from '../fleet/enrol.ts';
import { planFleet } from '../fleet/plan.ts';
import { Children } from './children.ts';
import type { Program } from './children.ts';
import { inventPast } from './invent-past.ts';
import type { AwayAgents } from './invent-past.ts';
import { playForwards, playScenes } from './scenes.ts';

/** Routers behind one agent: 500 routers are 40 sites, one in each town. */
const PER_AGENT = 12.5;
const SEED = 1;
const HOUR = 3_600_000;
/** The last agents of the plan are away all the time, and since when. */
const AWAY_SINCE_MS = [7.4 * HOUR, 0.6 * HOUR];

export interface DemoMachine {
  root: string;
  folder: string;
  server: string;
  /** Of the control plane. */
  env: Record<string, string>;
  node: (file: string, args: string[], env?: Record<string, string>) => Promise<string>;
  until: <T>(what: string, ask: () => Promise<T | undefined | false>) => Promise<T>;
}

export interface DemoTeam {
  teamId: string;
  apiKey: string;
}

/** The large fleet of the demonstration: made once by the real control plane, then given a past, then run. */
export class LargeFleet {
  readonly #routers: number;
  readonly #agents: number;
  readonly #machine: DemoMachine;

  constructor(routers: number, machine: DemoMachine) {
    this.#routers = routers;
    this.#agents = Math.max(1, Math.ceil(routers / PER_AGENT));
    this.#machine = machine;
  }

  /** Enrols the agents and lets them report every router; then exports all of it, invents its past, and imports that. */
  async prepare(createTeam: (name: string) => Promise<DemoTeam>): Promise<DemoTeam> {
    const { root, folder, server, env, until } = this.#machine;
    const children = new Children(root, folder);
    let team: DemoTeam;
    try {
      children.start({ name: 'server-first-run', file: 'server/main.ts', args: ['serve'], env });
      await until('the control plane answers', async () => (await fetch(`${server}/healthz`)).ok);
      team = await createTeam('Baltwave Networks');
      const api = new Administrator(server, team.apiKey);
      children.start({ ...this.program(team.apiKey, []), name: 'fleet-first-run' });
      await until('all simulated routers are known', async () => (await countAnswering(api)) === this.#routers);
    } finally {
      await children.stop();
    }
    await this.#givePast();
    return team;
  }

  /** @param life what happens to it; nothing for the first run */
  program(apiKey: string, life: readonly string[] = ['--life', '--spread=5', `--absent=${this.#away.size}`]): Program {
    const { folder, server } = this.#machine;
    const credentials = path.join(folder, 'fleet-credentials.json');
    const size = [`--agents=${this.#agents}`, `--routers=${this.#routers}`, `--seed=${SEED}`, '--sites'];
    const args = [`--server=${server}`, `--credentials=${credentials}`, ...size, ...life];
    const program = { name: 'fleet', file: 'scripts/fleet.ts', args, env: { SIGNALBOX_KEY: apiKey } };
    return life.length > 0 ? { ...program, ifItEnds: 'restart' } : program;
  }

  /** What people do with it, until `end`. */
  async play(apiKey: string, end: Promise<void>): Promise<void> {
    const api = new Administrator(this.#machine.server, apiKey);
    const stop = new AbortController();
    const ended = end.then(() => stop.abort());
    const most = this.#routers * 0.8;
    await this.#machine.until('the simulated routers answer', async () => (await countAnswering(api)) > most);
    await playScenes(api);
    await Promise.all([playForwards(api, stop.signal), ended]);
  }

  get #away(): AwayAgents {
    const plan = planFleet({ agents: this.#agents, routers: this.#routers, seed: SEED });
    // A fleet of a few agents is there as a whole.
    const names = this.#agents > 10 ? plan.slice(-AWAY_SINCE_MS.length).map(({ name }) => name) : [];
    return new Map(names.map((name, index) => [name, AWAY_SINCE_MS[index]!]));
  }

  async #givePast(): Promise<void> {
    const { folder, env, node } = this.#machine;
    const [before, after] = [path.join(folder, 'first-run.jsonl'), path.join(folder, 'with-past.jsonl')];
    const database = path.join(folder, 'signalbox.db');
    await node('server/main.ts', ['export', before], env);
    await inventPast(before, after, { now: Date.now(), away: this.#away, seed: SEED });
    for (const suffix of ['', '-wal', '-shm']) await rm(database + suffix, { force: true });
    await node('server/main.ts', ['import', after], env);
    for (const file of [before, after]) await rm(file, { force: true });
  }
}

/** Counted by the control plane: a page of the list does not hold a large fleet. */
async function countAnswering(api: Administrator): Promise<number> {
  return (await api.call<{ total: number }>('GET', '/api/routers?state=answering&limit=1&fields=id&total=true')).total;
}
