import type { ServerResponse } from 'node:http';
import { Webhook } from 'standardwebhooks';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { describeEachDatabase } from '../harness/databases.ts';
import { Chance, turns } from '../harness/jobs/random.ts';
import { waitUntil } from '../harness/wait-until.ts';
import { cut, hang, later, redirectTo, WebhookReceiver } from '../harness/webhook-receiver.ts';
import type { Reply } from '../harness/webhook-receiver.ts';
import { TEST_RULES, WebhookWorld } from '../harness/webhook-world.ts';
import type { TestJob, TestProcess } from '../harness/webhook-world.ts';

/** Receivers, programs and time at their worst, in an order that a number decides. */

const JOBS = 6;
const STEPS = 50;
const MINUTE = 60_000;
/** After so long each program looks for what another one has written. */
const POLL_MS = 30_000;
/** A hanging receiver costs real time. */
const RULES = { ...TEST_RULES, deadlineMs: 100 };

const FAILING: readonly Reply[] = [
  500,
  429,
  hang,
  cut,
  redirectTo('http://127.0.0.1:1/'),
  later('30'),
  later('Wed, 01 Jan 2031 00:00:00 GMT'),
];

describeEachDatabase('job updates in chaos', (open, kind) => {
  let world: WebhookWorld;
  let receiver: WebhookReceiver;
  /** `webhook-id`s in the order in which the receiver took them. */
  let taken: string[];

  beforeEach(async () => {
    world = await WebhookWorld.create(await open());
    receiver = await WebhookReceiver.start();
    taken = [];
  });
  afterEach(async () => {
    await world.close();
    await receiver.close();
  });

  const take = (response: ServerResponse): void => {
    taken.push(String(response.req.headers['webhook-id']));
    response.writeHead(204).end();
  };

  const answer =
    (chance: Chance): Reply =>
    (response) => {
      const reply = chance.happens(0.7) ? take : chance.pick(FAILING);
      if (typeof reply === 'number') response.writeHead(reply).end();
      else reply(response);
    };

  /** What agents say, one word after another for each job. */
  const lives = (jobs: readonly TestJob[]): (() => Promise<void>)[][] =>
    jobs.map((job) => [() => job.accept(), () => job.begin(), () => job.complete()]);

  const SEEDS = Array.from({ length: kind.name === 'SQLite' ? 6 : 3 }, (_, index) => index + 1);

  it.each(SEEDS)('are each delivered, in order, and authentic: %i', async (seed) => {
    const chance = new Chance(seed);
    receiver.reply = answer(chance);
    const processes: TestProcess[] = [await world.startProcess(RULES), await world.startProcess(RULES)];
    const { secret } = await processes[0]!.webhooks.rotateSecret(world.router.teamId, 0);
    const jobs = await Promise.all(Array.from({ length: JOBS }, () => world.createJob(processes[0]!, receiver.url)));
    const words = lives(jobs);
    const deeds: (() => unknown)[] = [
      () => chance.pick(words).shift()?.(),
      () => chance.pick(words).shift()?.(),
      () => world.clock.advance(chance.int(0, 10 * MINUTE)),
      () => world.clock.advance(5000),
      async () => {
        const index = chance.int(0, 1);
        await world.stopProcess(processes[index]!);
        processes[index] = await world.startProcess(RULES);
      },
    ];
    for (let step = 0; step < STEPS; step += 1) {
      await chance.pick(deeds)();
      await turns(chance.int(0, 50));
    }
    for (const life of words) for (const word of life) await word();
    receiver.reply = take;
    for (const job of jobs) {
      const deliveries = await waitUntil('everything is told', async () => {
        const deliveries = await world.deliveries(processes[0]!, job);
        if (deliveries.length === 3 && deliveries.every(({ event }) => event.state === 'delivered')) return deliveries;
        // Not while an attempt is made: its claim would run out again and again.
        const isQuiet = deliveries.every(({ event }) => event.claim === null);
        const due = deliveries.flatMap(({ event }) => (event.due_at === null ? [] : [event.due_at]));
        if (isQuiet && due.length > 0) world.clock.advance(Math.max(POLL_MS, Math.min(...due) - world.clock.now()));
        return undefined;
      });
      const first = deliveries.map(({ event }) => taken.indexOf(event.id));
      expect(first).toEqual(first.toSorted((a, b) => a - b));
      expect(first.every((at) => at >= 0)).toBe(true);
    }
    const webhook = new Webhook(secret);
    for (const { body, headers } of receiver.received)
      expect(webhook.sign(headers['webhook-id']!, new Date(Number(headers['webhook-timestamp']) * 1000), body)).toBe(
        headers['webhook-signature'],
      );
  });
});
