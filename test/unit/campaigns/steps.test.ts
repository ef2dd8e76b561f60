import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { paceOf } from '../../../server/work/campaigns/pace.ts';
import { canaryState, nextSteps } from '../../../server/work/campaigns/steps.ts';
import type { Plan, Progress, Step, Tally } from '../../../server/work/campaigns/steps.ts';

const NOW = 1_700_000_000_000;

const tally = (some: Partial<Tally> = {}): Tally => ({ waiting: 0, underWay: 0, completed: 0, failed: 0, canceled: 0, ...some });
const plan = (some: Partial<Plan> = {}): Plan => ({
  state: 'running',
  rate_per_minute: null,
  most_at_once: 10,
  abort_after_failures: null,
  abort_at_percent: null,
  next_start_at: 0,
  ...some,
});
const ask = (some: Partial<Plan>, canaries: Partial<Tally>, others: Partial<Tally>): Step[] =>
  nextSteps(plan(some), { canaries: tally(canaries), others: tally(others) }, NOW);
const start = (count: number, canaries = false, nextStartAt = NOW): Step[] => [{ kind: 'start', count, canaries, nextStartAt }];
const stop = (reason: string): unknown => [{ kind: 'stop', reason, message: expect.any(String) }];

describe('the next step of a campaign', () => {
  it.each<[string, Partial<Plan>, Partial<Tally>, Partial<Tally>, unknown]>([
    ['begins with the canaries only', {}, { waiting: 3 }, { waiting: 50 }, start(3, true)],
    ['waits while a canary is under way', {}, { underWay: 1, completed: 2 }, { waiting: 50 }, []],
    ['lets the rest follow when all canaries have completed', {}, { completed: 3 }, { waiting: 50 }, start(10)],
    ['goes on without canaries', {}, {}, { waiting: 50 }, start(10)],
    ['keeps to the most at once', {}, {}, { waiting: 50, underWay: 8 }, start(2)],
    ['keeps to it among canaries too', { most_at_once: 2 }, { waiting: 3 }, { waiting: 50 }, start(2, true)],
    ['waits for a place', {}, {}, { waiting: 50, underWay: 10 }, []],
    ['takes no more than one transaction should hold', { most_at_once: 1000 }, {}, { waiting: 500 }, start(100)],
    ['begins one of a slow rate and names the next moment', { rate_per_minute: 6 }, {}, { waiting: 50 }, start(1, false, NOW + 10_000)],
    ['begins several of a fast rate', { rate_per_minute: 300 }, {}, { waiting: 50 }, start(5, false, NOW + 1000)],
    ['waits for its rate', { rate_per_minute: 6, next_start_at: NOW + 1 }, {}, { waiting: 50 }, [{ kind: 'wait', until: NOW + 1 }]],
    [
      'does not wait for a clock that was set back',
      { rate_per_minute: 6, next_start_at: NOW + 3_600_000 },
      {},
      { waiting: 50 },
      start(1, false, NOW + 10_000),
    ],
    ['finishes when all have a result', {}, { completed: 1 }, { completed: 5, failed: 2, canceled: 1 }, [{ kind: 'finish' }]],
    ['starts nothing in a pause', { state: 'paused' }, {}, { waiting: 50, underWay: 1 }, []],
    ['finishes in a pause too', { state: 'paused' }, {}, { completed: 50 }, [{ kind: 'finish' }]],
    ['stops in a pause too', { state: 'paused', abort_after_failures: 1 }, {}, { waiting: 50, failed: 1 }, stop('failures')],
    ['stops for a canary that failed', {}, { waiting: 1, failed: 1 }, { waiting: 50 }, stop('canary_failed')],
    ['stops for a canary that was canceled', {}, { completed: 1, canceled: 1 }, { waiting: 50 }, stop('canary_failed')],
    ['stops for a canary even when all routers are canaries', {}, { completed: 2, failed: 1 }, {}, stop('canary_failed')],
    ['goes on below the limit of failures', { abort_after_failures: 3 }, {}, { waiting: 50, failed: 2 }, start(10)],
    ['stops at the limit of failures', { abort_after_failures: 3 }, {}, { waiting: 50, failed: 3 }, stop('failures')],
    ['stops at the limit while the last ones are under way', { abort_after_failures: 3 }, {}, { underWay: 1, failed: 3 }, stop('failures')],
    ['has nothing to stop after the last result', { abort_after_failures: 3 }, {}, { completed: 50, failed: 3 }, [{ kind: 'finish' }]],
    ['does not count a share of four results', { abort_at_percent: 10 }, {}, { waiting: 50, failed: 4 }, start(10)],
    ['counts it from the fifth', { abort_at_percent: 40 }, {}, { waiting: 50, completed: 3, failed: 2 }, stop('failure_percentage')],
    [
      'counts canaries among the results',
      { abort_at_percent: 40 },
      { completed: 1 },
      { waiting: 50, completed: 2, failed: 2 },
      stop('failure_percentage'),
    ],
    ['goes on below the share', { abort_at_percent: 41 }, {}, { waiting: 50, completed: 3, failed: 2 }, start(10)],
    [
      'counts canceled jobs neither as results nor as failures',
      { abort_at_percent: 1, abort_after_failures: 1 },
      {},
      { waiting: 9, canceled: 9 },
      start(9),
    ],
    [
      'takes back what waits after it has stopped',
      { state: 'stopped' },
      {},
      { waiting: 5, underWay: 1, failed: 3 },
      [{ kind: 'cancel_jobs' }],
    ],
    ['cancels the waiting jobs after it was canceled', { state: 'canceled' }, { underWay: 1 }, { waiting: 5 }, [{ kind: 'cancel_jobs' }]],
    ['is over when no job is under way', { state: 'canceled' }, {}, { waiting: 5, canceled: 2 }, [{ kind: 'finish' }]],
    ['does nothing after its end', { state: 'finished' }, {}, { completed: 5 }, []],
  ])('%s', (_name, some, canaries, others, expected) => {
    expect(ask(some, canaries, others)).toEqual(expected);
  });

  it.each<[string, Partial<Tally>]>([
    ['none', {}],
    ['running', { waiting: 1, completed: 1 }],
    ['running', { underWay: 1 }],
    ['passed', { completed: 2 }],
    ['failed', { completed: 1, failed: 1, waiting: 1 }],
    ['failed', { canceled: 1 }],
  ])('calls canaries %s: %j', (state, canaries) => {
    expect(canaryState(tally(canaries))).toBe(state);
  });
});

describe('the pace', () => {
  it('never puts more than the rate into a minute, and loses little of it', () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 6000 }), (rate) => {
        const { atOnce, everyMs } = paceOf(rate);
        // Any 60 seconds hold at most this many steps.
        const inAMinute = Math.ceil(60_000 / everyMs) * atOnce;
        expect(inAMinute).toBeLessThanOrEqual(rate);
        expect((60_000 / everyMs) * atOnce).toBeGreaterThan(rate * 0.95);
      }),
    );
  });
});

/** A campaign played to its end against a world that answers as it likes. */
interface Played {
  plan: Plan;
  routers: number;
  canaries: number;
  /** How each job ends, in the order of starting. */
  ends: ('completed' | 'failed' | 'canceled')[];
  /** What happens between two looks: time passes, and so many jobs end. */
  turns: { ms: number; ended: number }[];
}

const played: fc.Arbitrary<Played> = fc
  .record({
    routers: fc.integer({ min: 1, max: 40 }),
    canaries: fc.integer({ min: 0, max: 5 }),
    mostAtOnce: fc.integer({ min: 1, max: 12 }),
    rate: fc.option(fc.integer({ min: 1, max: 600 })),
    failures: fc.option(fc.integer({ min: 1, max: 6 })),
    percent: fc.option(fc.integer({ min: 1, max: 100 })),
    ends: fc.array(fc.constantFrom('completed', 'completed', 'completed', 'completed', 'failed', 'canceled'), {
      minLength: 40,
      maxLength: 40,
    }),
    turns: fc.array(fc.record({ ms: fc.integer({ min: 0, max: 20_000 }), ended: fc.integer({ min: 0, max: 8 }) }), {
      minLength: 1,
      maxLength: 30,
    }),
  })
  .map(({ routers, canaries, mostAtOnce, rate, failures, percent, ends, turns }) => ({
    plan: plan({ most_at_once: mostAtOnce, rate_per_minute: rate, abort_after_failures: failures, abort_at_percent: percent }),
    routers,
    canaries: Math.min(canaries, routers),
    ends,
    turns,
  }));

/** Does the step to the numbers, as run/store.ts does it to the rows. */
class Play {
  readonly plan: Plan;
  readonly progress: Progress;
  readonly starts: { at: number; count: number }[] = [];
  readonly running: ('canaries' | 'others')[] = [];
  readonly ends: Played['ends'];
  ended = 0;
  now = NOW;
  isOver = false;

  constructor({ plan, routers, canaries, ends }: Played) {
    this.plan = { ...plan };
    this.ends = ends;
    this.progress = { canaries: tally({ waiting: canaries }), others: tally({ waiting: routers - canaries }) };
  }

  look(): void {
    for (let round = 0; round < 100 && !this.isOver; round += 1) {
      const [step] = nextSteps(this.plan, this.progress, this.now);
      if (step === undefined || step.kind === 'wait') return;
      this.#act(step);
      if (step.kind === 'cancel_jobs') return;
    }
  }

  #act(step: Step): void {
    if (step.kind === 'stop') this.plan.state = 'stopped';
    if (step.kind === 'finish') this.isOver = true;
    if (step.kind !== 'start') return;
    this.#check(step);
    const group = step.canaries ? 'canaries' : 'others';
    this.progress[group].waiting -= step.count;
    this.progress[group].underWay += step.count;
    for (let i = 0; i < step.count; i += 1) this.running.push(group);
    this.plan.next_start_at = step.nextStartAt;
    this.starts.push({ at: this.now, count: step.count });
    expect(this.running.length).toBeLessThanOrEqual(this.plan.most_at_once);
  }

  #check(step: Extract<Step, { kind: 'start' }>): void {
    const { canaries, others } = this.progress;
    expect(step.count).toBeGreaterThan(0);
    if (!step.canaries) expect(canaries).toMatchObject({ waiting: 0, underWay: 0, failed: 0, canceled: 0 });
    expect(canaries.failed).toBe(0);
    const { abort_after_failures: most, abort_at_percent: percent } = this.plan;
    if (most !== null) expect(others.failed).toBeLessThan(most);
    const results = canaries.completed + others.completed + others.failed;
    if (percent !== null && results >= 5) expect(others.failed / results).toBeLessThan(percent / 100);
  }

  end(count: number): void {
    for (const group of this.running.splice(0, count)) {
      this.progress[group].underWay -= 1;
      this.progress[group][this.ends[this.ended]!] += 1;
      this.ended += 1;
    }
  }
}

describe('a campaign, whatever happens to its jobs', () => {
  it('keeps to the most at once, the rate, the canaries and the limits, and comes to an end', () => {
    fc.assert(
      fc.property(played, (game) => {
        const play = new Play(game);
        for (const { ms, ended } of game.turns) {
          play.look();
          play.now += ms;
          play.end(ended);
        }
        // From here on every job ends and time passes: at most one look for each router, its wait and its end.
        for (let turn = 0; turn < 4 * game.routers + 10 && !play.isOver; turn += 1) {
          play.look();
          play.now += 60_000;
          play.end(game.routers);
        }
        expect(play.isOver).toBe(true);
        const rate = game.plan.rate_per_minute;
        for (const { at } of play.starts) {
          const inAMinute = play.starts.filter((start) => start.at >= at && start.at < at + 60_000);
          if (rate !== null) expect(inAMinute.reduce((sum, { count }) => sum + count, 0)).toBeLessThanOrEqual(rate);
        }
        if (play.plan.state === 'running') expect(play.progress.canaries.waiting + play.progress.others.waiting).toBe(0);
      }),
    );
  });
});
