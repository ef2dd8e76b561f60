import { Webhook } from 'standardwebhooks';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import type { Storage } from '../../server/platform/storage/db.ts';
import { SCHEDULE_MS } from '../../server/outbound/webhooks/schedule.ts';
import { describeEachDatabase } from '../harness/databases.ts';
import { seedRouter } from '../harness/seed.ts';
import { waitUntil } from '../harness/wait-until.ts';
import { cut, hang, later, redirectTo, WebhookReceiver } from '../harness/webhook-receiver.ts';
import type { Reply } from '../harness/webhook-receiver.ts';
import { TEST_RULES, WebhookWorld } from '../harness/webhook-world.ts';
import type { TestJob, TestProcess } from '../harness/webhook-world.ts';

const SECOND = 1000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;

describeEachDatabase('job updates', (open) => {
  let storage: Storage;
  let world: WebhookWorld;
  let receiver: WebhookReceiver;
  let main: TestProcess;

  beforeEach(async () => {
    storage = await open();
    world = await WebhookWorld.create(storage);
    receiver = await WebhookReceiver.start();
    main = await world.startProcess();
  });
  afterEach(async () => {
    await world.close();
    await receiver.close();
  });

  const create = (url = receiver.url): Promise<TestJob> => world.createJob(main, url);
  const received = (count: number): Promise<unknown> => waitUntil(`${count} requests have come`, () => receiver.received.length >= count);

  async function run(job: TestJob): Promise<void> {
    await job.accept();
    await job.begin();
    await job.complete();
  }

  test('arrive as they happen, in order', async () => {
    const job = await create();
    await world.until(main, job, 'delivered');
    await run(job);
    const deliveries = await world.until(main, job, 'delivered delivered delivered');
    expect(receiver.types).toBe('loaded running completed');
    const bodies = receiver.received.map(({ body }) => JSON.parse(body) as { data: { id: string; seq_id: number; status: string } });
    expect(bodies.map(({ data }) => [data.id, data.seq_id, data.status])).toEqual([
      [job.id, 1, 'pending'],
      [job.id, 3, 'running'],
      [job.id, 4, 'completed'],
    ]);
    for (const { event, attempts } of deliveries) {
      expect(attempts).toMatchObject([{ status: 204, error: null, at: world.clock.now() }]);
      expect(event).toMatchObject({ due_at: null, settled_at: world.clock.now() });
    }
  });

  test('are not created for a job without a notify_url', async () => {
    const silent = await world.createJob(main, undefined);
    const job = await create();
    await world.until(main, job, 'delivered');
    expect(await world.deliveries(main, silent)).toEqual([]);
    expect(receiver.received).toHaveLength(1);
  });

  describe('to a receiver that was down', () => {
    test('are all delivered later, in order, each with its own body', async () => {
      receiver.replies.push(500);
      const job = await create();
      await world.untilAttempts(main, job, 0, 1);
      await run(job);
      expect(receiver.types).toBe('loaded');
      world.clock.advance(5 * SECOND);
      await world.until(main, job, 'delivered delivered delivered');
      expect(receiver.types).toBe('loaded loaded running completed');
      expect(receiver.received[0]!.body).toBe(receiver.received[1]!.body);
      expect(receiver.received[0]!.headers['webhook-id']).toBe(receiver.received[1]!.headers['webhook-id']);
    });

    test('are tried ten times on the schedule and then given up, and the next event has its turn', async () => {
      receiver.reply = 503;
      const job = await create();
      for (let attempts = 1; attempts < SCHEDULE_MS.length; attempts += 1) {
        const { event } = await world.untilAttempts(main, job, 0, attempts);
        const wait = SCHEDULE_MS[attempts]!;
        expect(event).toMatchObject({ state: 'pending', attempts, due_at: world.clock.now() + wait });
        world.clock.advance(wait - 1);
        expect(receiver.received).toHaveLength(attempts);
        world.clock.advance(1);
      }
      const [failed] = await world.until(main, job, 'failed');
      expect(failed).toMatchObject({ event: { attempts: 10, due_at: null } });
      expect(failed!.attempts.map(({ error }) => error)).toEqual(Array.from({ length: 10 }, () => 'http_status'));
      receiver.reply = 200;
      await job.accept();
      await job.begin();
      await world.until(main, job, 'failed delivered');
    });

    test.each([
      ['a second ahead', SECOND],
      ['a second back', -SECOND],
      ['two hours ahead', 2 * HOUR],
      ['two hours back', -2 * HOUR],
      ['a day ahead', 24 * HOUR],
      ['a day back', -24 * HOUR],
    ])('are tried after the planned wait though the clock was set %s', async (_step, ms) => {
      receiver.replies.push(500, 500);
      const job = await create();
      await world.untilAttempts(main, job, 0, 1);
      await world.setClock(ms);
      world.clock.advance(5 * SECOND);
      await world.untilAttempts(main, job, 0, 2);
      await world.setClock(-ms);
      world.clock.advance(4 * MINUTE);
      expect(receiver.received).toHaveLength(2);
      await waitUntil('the third attempt', async () => {
        const [delivery] = await world.deliveries(main, job);
        const { event, attempts } = delivery!;
        // An attempt has a short deadline by this clock, which must not pass while the receiver has no processor.
        if (event.claim === null && attempts.length < 3) world.clock.advance(5 * SECOND);
        return attempts.length === 3;
      });
      expect(receiver.received).toHaveLength(3);
      await world.until(main, job, 'delivered');
    });

    test('are not tried before Retry-After', async () => {
      receiver.replies.push(later('3600'));
      const job = await create();
      expect((await world.untilAttempts(main, job, 0, 1)).event.due_at).toBe(world.clock.now() + HOUR);
      world.clock.advance(HOUR);
      await world.until(main, job, 'delivered');
    });

    test.each<[string, Reply, string, number | null]>([
      ['hangs', hang, 'timed_out', null],
      ['cuts the connection', cut, 'connection_lost', null],
      ['redirects', redirectTo('http://127.0.0.1:1/'), 'redirected', 302],
      ['is confused', 404, 'http_status', 404],
    ])('are tried again when it %s', async (_name, reply, error, status) => {
      receiver.replies.push(reply);
      await world.stopProcess(main);
      main = await world.startProcess(reply === hang ? { ...TEST_RULES, deadlineMs: 400 } : TEST_RULES);
      const job = await create();
      const { event, attempts } = await world.untilAttempts(main, job, 0, 1);
      expect(attempts).toMatchObject([{ error, status }]);
      expect(event).toMatchObject({ state: 'pending', due_at: world.clock.now() + 5 * SECOND });
      // A receiver that answers needs more time than that on a busy machine.
      await world.stopProcess(main);
      main = await world.startProcess();
      world.clock.advance(5 * SECOND);
      await world.until(main, job, 'delivered');
    });
  });

  test('are not sent where they must not go, although the URL was once taken', async () => {
    const job = await create();
    await world.until(main, job, 'delivered');
    await storage.db
      .updateTable('jobs')
      .set({ notify_url: 'https://10.0.0.1/' } as never)
      .execute();
    await job.accept();
    await job.begin();
    expect((await world.untilAttempts(main, job, 1, 1)).attempts).toMatchObject([{ status: null, error: 'address_refused' }]);
  });

  describe('to a receiver that wants no more (410)', () => {
    test('end, for what waits and for what comes', async () => {
      receiver.replies.push(500, 410);
      const job = await create();
      await world.untilAttempts(main, job, 0, 1);
      await job.accept();
      await job.begin();
      world.clock.advance(5 * SECOND);
      await world.until(main, job, 'gone gone');
      await job.complete();
      const deliveries = await world.until(main, job, 'gone gone gone');
      expect(deliveries.map(({ attempts }) => attempts.length)).toEqual([2, 0, 0]);
      expect(receiver.types).toBe('loaded loaded');
    });

    test('go on for other jobs', async () => {
      receiver.replies.push(410);
      await world.until(main, await create(), 'gone');
      await world.until(main, await create(), 'delivered');
    });
  });

  describe('to one receiver that is slow', () => {
    let slow: WebhookReceiver;
    beforeEach(async () => {
      slow = await WebhookReceiver.start();
      slow.reply = hang;
    });
    afterEach(() => slow.close());

    test('do not delay anyone else, and are few at a time', async () => {
      await world.stopProcess(main);
      main = await world.startProcess({ ...TEST_RULES, atOnce: { total: 16, perParty: 8, perMember: 4 } });
      const waiting = await Promise.all(Array.from({ length: 10 }, () => create(slow.url)));
      await waitUntil('four are under way', () => slow.open === 4);
      const quick = await Promise.all(Array.from({ length: 10 }, () => create()));
      for (const job of quick) await world.until(main, job, 'delivered');
      expect(slow.mostOpen).toBe(4);
      expect(receiver.mostOpen).toBeLessThanOrEqual(4);
      expect((await world.deliveries(main, waiting[0]!))[0]!.attempts).toEqual([]);
    });
  });

  describe('of a team whose receivers hang', () => {
    let slow: WebhookReceiver;
    beforeEach(async () => {
      slow = await WebhookReceiver.start();
      slow.reply = (response) => {
        if (response.req.url !== '/hang') response.writeHead(204).end();
      };
      await world.stopProcess(main);
      main = await world.startProcess({ ...TEST_RULES, atOnce: { total: 8, perParty: 6, perMember: 4 } });
    });
    afterEach(() => slow.close());

    test('do not delay another team that sends to the same receiver', async () => {
      await Promise.all(Array.from({ length: 10 }, () => create(`${slow.url}/hang`)));
      await waitUntil('the hanging ones are under way', () => slow.open === 3);
      const other = await seedRouter(storage);
      await world.createJob(main, `${slow.url}/good`, other);
      await waitUntil('the other team is told', () => slow.received.some(({ path }) => path === '/good'));
      expect(slow.open).toBe(3);
    });

    test('leave room for the third team when two of them come', async () => {
      const others = await Promise.all([WebhookReceiver.start(), WebhookReceiver.start()]);
      for (const other of others) other.reply = hang;
      for (const team of [world.router, await seedRouter(storage)]) {
        for (const { url } of [slow, ...others]) {
          await Promise.all(Array.from({ length: 6 }, () => world.createJob(main, `${url}/hang`, team)));
        }
      }
      // Half of the 8 for the first team, and half of the rest for the second.
      await waitUntil('both have their shares', () => slow.open + others[0].open + others[1].open === 6);
      const third = await seedRouter(storage);
      await world.createJob(main, receiver.url, third);
      await waitUntil('the third team is told', () => receiver.received.length === 1);
      await Promise.all(others.map((other) => other.close()));
    });
  });

  describe('after a restart', () => {
    test('events of the meantime are delivered', async () => {
      const job = await create();
      await world.until(main, job, 'delivered');
      await main.webhooks.stop();
      await run(job);
      main = await world.startProcess();
      await world.until(main, job, 'delivered delivered delivered');
      expect(receiver.types).toBe('loaded running completed');
    });

    test('the schedule continues where it was', async () => {
      receiver.replies.push(500, 500);
      const job = await create();
      await world.untilAttempts(main, job, 0, 1);
      world.clock.advance(5 * SECOND);
      await world.untilAttempts(main, job, 0, 2);
      await world.stopProcess(main);
      world.clock.advance(MINUTE);
      main = await world.startProcess();
      expect((await world.deliveries(main, job))[0]!.event.due_at).toBe(world.clock.now() + 4 * MINUTE);
      world.clock.advance(4 * MINUTE);
      await world.until(main, job, 'delivered');
      expect(receiver.received).toHaveLength(3);
    });

    test('an attempt that was cut off is made again', async () => {
      receiver.replies.push(hang);
      await world.stopProcess(main);
      main = await world.startProcess();
      const job = await create();
      await received(1);
      await world.stopProcess(main);
      main = await world.startProcess();
      const [delivery] = await world.until(main, job, 'delivered');
      expect(delivery!.attempts).toHaveLength(1);
      expect(receiver.types).toBe('loaded loaded');
    });

    test('what a dead process was sending is sent once its claim has run out', async () => {
      const job = await create();
      await world.until(main, job, 'delivered');
      await storage.db
        .updateTable('job_events')
        .set({ state: 'pending', due_at: 1, claim: 'dead', claimed_until: world.clock.now() + MINUTE })
        .execute();
      world.clock.advance(30 * SECOND);
      await create();
      await received(2);
      expect(receiver.received).toHaveLength(2);
      await waitUntil('it is sent', () => {
        world.clock.advance(10 * SECOND);
        return receiver.received.length === 3;
      });
    });
  });

  test('of two processes on one database one sends each', async () => {
    const second = await world.startProcess();
    const jobs = await Promise.all(
      Array.from({ length: 12 }, (_, index) => world.createJob(index % 2 === 0 ? main : second, receiver.url)),
    );
    for (const job of jobs) await run(job);
    for (const job of jobs) await world.until(main, job, 'delivered delivered delivered');
    expect(receiver.received).toHaveLength(36);
    for (const job of jobs) {
      const own = receiver.received.filter(({ body }) => body.includes(job.id)).map(({ type }) => type);
      expect(own).toEqual(['job.loaded', 'job.running', 'job.completed']);
    }
  });

  describe('sent again on request', () => {
    const resend = (job: TestJob, id: string) => main.webhooks.resend(world.router.teamId, world.router.routerId, job.id, id);

    test('have the same id and body', async () => {
      const job = await create();
      const [delivery] = await world.until(main, job, 'delivered');
      await resend(job, delivery!.event.id);
      await received(2);
      const [again] = await world.until(main, job, 'delivered');
      expect(again!.attempts).toHaveLength(2);
      expect(receiver.received[0]!.body).toBe(receiver.received[1]!.body);
      expect(receiver.received[0]!.headers['webhook-id']).toBe(receiver.received[1]!.headers['webhook-id']);
    });

    test('are retried like new ones, and hold no other event up', async () => {
      const job = await create();
      const [delivery] = await world.until(main, job, 'delivered');
      receiver.replies.push(500);
      await resend(job, delivery!.event.id);
      await world.untilAttempts(main, job, 0, 2);
      await job.accept();
      await job.begin();
      await world.until(main, job, 'resending delivered');
      world.clock.advance(5 * SECOND);
      await world.until(main, job, 'delivered delivered');
    });

    test('go out at once when they were waiting, after those before them', async () => {
      receiver.replies.push(500);
      const job = await create();
      await world.untilAttempts(main, job, 0, 1);
      await job.accept();
      await job.begin();
      const [, running] = await world.until(main, job, 'pending pending');
      await resend(job, running!.event.id);
      await world.until(main, job, 'delivered delivered');
      expect(receiver.types).toBe('loaded loaded running');
    });

    test('reach a receiver that said 410 before', async () => {
      receiver.replies.push(410);
      const job = await create();
      const [delivery] = await world.until(main, job, 'gone');
      await resend(job, delivery!.event.id);
      await world.until(main, job, 'delivered');
      await job.accept();
      await job.begin();
      await world.until(main, job, 'delivered delivered');
    });

    test('are not found for another job, another team, or under another id', async () => {
      const [job, other] = [await create(), await create()];
      const [delivery] = await world.until(main, job, 'delivered');
      const stranger = await seedRouter(storage);
      const { id } = delivery!.event;
      await expect(resend(other, id)).rejects.toMatchObject({ code: 'not_found' });
      await expect(resend(job, other.id)).rejects.toMatchObject({ code: 'not_found' });
      await expect(main.webhooks.resend(stranger.teamId, world.router.routerId, job.id, id)).rejects.toMatchObject({ code: 'not_found' });
    });
  });

  describe('are signed', () => {
    const verify = (secret: string, index: number): unknown => {
      const { body, headers } = receiver.received[index]!;
      return new Webhook(secret).verify(body, headers);
    };
    const verifies = (secret: string, index: number): boolean => {
      try {
        verify(secret, index);
        return true;
      } catch {
        return false;
      }
    };
    const rotate = (overlapMs: number) => main.webhooks.rotateSecret(world.router.teamId, overlapMs);

    test('by the secret of their team, which the published library verifies', async () => {
      const { secret } = await rotate(0);
      const stranger = await seedRouter(storage);
      await main.webhooks.rotateSecret(stranger.teamId, 0);
      await world.until(main, await create(), 'delivered');
      await world.createJob(main, receiver.url, stranger);
      await received(2);
      expect(verify(secret, 0)).toMatchObject({ type: 'job.loaded' });
      expect(verifies(secret, 1)).toBe(false);
    });

    test('by both secrets while one replaces the other', async () => {
      const old = await rotate(0);
      const fresh = await rotate(HOUR);
      expect(fresh).toMatchObject({ previousUntil: world.clock.now() + HOUR });
      await world.until(main, await create(), 'delivered');
      world.clock.advance(HOUR);
      await world.until(main, await create(), 'delivered');
      expect([verifies(old.secret, 0), verifies(fresh.secret, 0)]).toEqual([true, true]);
      expect(receiver.received[1]!.headers['webhook-signature']!.split(' ')).toHaveLength(1);
      expect(await main.webhooks.secretState(world.router.teamId)).toMatchObject({ previousUntil: null });
    });

    test('by two secrets at most: a second rotation ends the first', async () => {
      const leaked = await rotate(HOUR);
      await rotate(HOUR);
      await rotate(HOUR);
      await world.until(main, await create(), 'delivered');
      expect(verifies(leaked.secret, 0)).toBe(false);
      expect(receiver.received[0]!.headers['webhook-signature']!.split(' ')).toHaveLength(2);
    });

    test('even before anyone has asked for a secret', async () => {
      expect(await main.webhooks.secretState(world.router.teamId)).toBeUndefined();
      await world.until(main, await create(), 'delivered');
      expect(receiver.received[0]!.headers['webhook-signature']).toMatch(/^v1,[A-Za-z0-9+/]{43}=$/);
      expect(await main.webhooks.secretState(world.router.teamId)).toMatchObject({ shown: false });
    });

    test('at the moment of each attempt, not of the event', async () => {
      receiver.replies.push(500);
      const job = await create();
      await world.untilAttempts(main, job, 0, 1);
      world.clock.advance(5 * SECOND);
      await world.until(main, job, 'delivered');
      const [first, second] = receiver.received.map(({ headers }) => Number(headers['webhook-timestamp']));
      expect(second! - first!).toBe(5);
    });

    test('by a secret that the database does not show', async () => {
      const { secret } = await rotate(0);
      const rows = await storage.db.selectFrom('webhook_secrets').selectAll().execute();
      expect(JSON.stringify(rows)).not.toContain(secret.slice(6, 30));
    });

    test('or not sent: without its key they could not be verified', async () => {
      await rotate(0);
      await storage.db.updateTable('webhook_secrets').set({ expires_at: null }).execute();
      await storage.db.deleteFrom('webhook_secrets').execute();
      await storage.db
        .insertInto('webhook_secrets')
        .values({ id: 'x', team_id: world.router.teamId, secret: 'of another key file', shown: 1, created_at: 1, expires_at: null })
        .execute();
      const { attempts } = await world.untilAttempts(main, await create(), 0, 1);
      expect(attempts).toMatchObject([{ status: null, error: 'signing_failed' }]);
      expect(receiver.received).toEqual([]);
    });
  });

  test('are forgotten after thirty days, once they are settled', async () => {
    const job = await create();
    await world.until(main, job, 'delivered');
    receiver.reply = 500;
    await job.accept();
    await job.begin();
    await world.untilAttempts(main, job, 1, 1);
    await storage.db
      .updateTable('job_events')
      .set({ due_at: 2 ** 50 })
      .where('state', '=', 'pending')
      .execute();
    world.clock.advance(30 * 24 * HOUR);
    await waitUntil('the delivered one is gone', async () => {
      world.clock.advance(HOUR);
      const [first, ...others] = await world.deliveries(main, job);
      return first?.event.state === 'pending' && others.length === 0;
    });
  });
});
