import { randomUUID } from 'node:crypto';
import type { Chance } from '../jobs/random.ts';
import type { Answer, ChaosWorld } from './chaos-world.ts';

/** An acknowledged job. */
export interface Acknowledged {
  jobId: string;
  routerId: string;
  kind: Kind;
  key: string;
}

export type Kind = 'ok' | 'slow' | 'fail' | 'syntax' | 'reboot' | 'late' | 'guarded' | 'lockout';

/** Router time runs ten times as fast. */
const SCRIPTS: Record<Kind, string> = {
  ok: ':put "ran"',
  slow: ':put "ran"; :delay 6s; :put "done"',
  fail: ':put "ran"; :delay 1s; :error "broken on purpose"',
  syntax: '/ip address add address=10.9.9.9/24 interface=ether2\n/ip address frobnicate',
  reboot: ':delay 1s; /system reboot; :delay 60s',
  late: ':delay 100s',
  guarded: ':put "ran"; :delay 2s',
  lockout: '/ip service set api disabled=yes; /ip service set ssh disabled=yes; :delay 1s',
};

const WEIGHTS: [number, Kind][] = [
  [60, 'ok'],
  [12, 'slow'],
  [8, 'fail'],
  [3, 'syntax'],
  [2, 'reboot'],
  [2, 'late'],
  [8, 'guarded'],
  [3, 'lockout'],
];

/** Largest number of pending jobs per router. */
const OPEN_AT_MOST = 12;
/** How long a caller repeats an unanswered request with the same key, milliseconds. */
const REPEAT_FOR_MS = 30_000;
const PAUSE_MS = 200;

/** Callers who submit jobs, repeat unanswered requests, and cancel some jobs. */
export class JobLoad {
  readonly acknowledged: Acknowledged[] = [];
  /** How often each HTTP status was seen; 0 stands for no answer. */
  readonly statuses = new Map<number, number>();
  readonly #world: ChaosWorld;
  readonly #chance: Chance;
  readonly #under = new Set<Promise<void>>();

  constructor(world: ChaosWorld, chance: Chance) {
    this.#world = world;
    this.#chance = chance;
  }

  /** Until this many jobs are acknowledged, or the time is up. */
  async run(jobs: number, signal: AbortSignal): Promise<void> {
    const open = new Map<string, number>();
    for (let round = 0; this.acknowledged.length < jobs && !signal.aborted; round += 1) {
      if (round % 10 === 0) await this.#countOpen(open);
      for (const routerId of this.#world.routerIds) {
        if ((open.get(routerId) ?? 0) >= OPEN_AT_MOST || this.#chance.happens(0.3)) continue;
        open.set(routerId, (open.get(routerId) ?? 0) + 1);
        this.#keep(this.#submit(routerId));
      }
      await pause(PAUSE_MS);
    }
    await Promise.all(this.#under);
  }

  #keep(work: Promise<void>): void {
    const done: Promise<void> = work.finally(() => this.#under.delete(done));
    this.#under.add(done);
  }

  async #countOpen(open: Map<string, number>): Promise<void> {
    for (const routerId of this.#world.routerIds) {
      const answer = await this.#call('GET', `/api/routers/${routerId}/jobs?status=pending,running&limit=100`);
      if (answer?.status === 200) open.set(routerId, (answer.body as { data: unknown[] }).data.length);
    }
  }

  /** Never rejects: an unanswered job was not acknowledged. */
  async #submit(routerId: string): Promise<void> {
    const kind = this.#pickKind();
    const isGuarded = kind === 'guarded' || kind === 'lockout';
    const key = randomUUID();
    const body = {
      description: kind,
      script: SCRIPTS[kind],
      make_backup: !isGuarded && this.#chance.happens(0.08),
      express_execute: this.#chance.happens(0.7),
      needs_acknowledgement: this.#chance.happens(0.9),
      // The others wait for a week: the longest step of a clock does not expire them.
      ...(this.#chance.happens(0.1) ? { deliver_within_minutes: 60 } : {}),
      timeout_seconds: kind === 'late' ? 1 : 30,
      ...(isGuarded ? { undo_unless_reachable_seconds: 60 } : {}),
    };
    const isTakenBack = this.#chance.happens(0.03);
    for (const giveUpAt = performance.now() + REPEAT_FOR_MS; performance.now() < giveUpAt; await pause(PAUSE_MS)) {
      const answer = await this.#call('POST', `/api/asynchronous/${routerId}`, body, { 'idempotency-key': key });
      if (answer?.status !== 200) continue;
      const { job_id: jobId } = (answer.body as { data: { job_id: string } }).data;
      this.acknowledged.push({ jobId, routerId, kind, key });
      if (isTakenBack) await this.#call('DELETE', `/api/routers/${routerId}/jobs/${jobId}`);
      return;
    }
  }

  /** Undefined when the control plane could not be reached. */
  async #call(method: string, route: string, body?: object, headers?: Record<string, string>): Promise<Answer | undefined> {
    const answer = await this.#world.call(method, route, body, headers).catch(() => undefined);
    const status = answer?.status ?? 0;
    this.statuses.set(status, (this.statuses.get(status) ?? 0) + 1);
    return answer;
  }

  #pickKind(): Kind {
    let at = this.#chance.next() * WEIGHTS.reduce((sum, [weight]) => sum + weight, 0);
    return (WEIGHTS.find(([weight]) => (at -= weight) < 0) ?? WEIGHTS[0]!)[1];
  }
}

function pause(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}
