import { Webhook } from 'standardwebhooks';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { TeamsService } from '../../server/access/teams/service.ts';
import { EmailChannel } from '../../server/outbound/notifications/channels/email/channel.ts';
import { WebhookChannel } from '../../server/outbound/notifications/channels/webhook.ts';
import { GroupsService } from '../../server/outbound/notifications/groups/service.ts';
import { ProvedAddresses } from '../../server/outbound/notifications/messages/addresses.ts';
import { Poster } from '../../server/platform/outgoing/poster.ts';
import type { Storage } from '../../server/platform/storage/db.ts';
import { describeEachDatabase } from '../harness/databases.ts';
import { FaultFacts } from '../harness/fault-facts.ts';
import { ManualClock } from '../harness/manual-clock.ts';
import { makeAddresses } from '../harness/notification-addresses.ts';
import { followKinds } from '../harness/notifications.ts';
import { NotifyBench, seedPerson } from '../harness/notify-bench.ts';
import { AgentWithRouters } from '../harness/notify/agent-with-routers.ts';
import { hasPostfix, startPostfix } from '../harness/notify/postfix.ts';
import type { Postfix } from '../harness/notify/postfix.ts';
import { readMail } from '../harness/notify/read-mail.ts';
import { seedRouter } from '../harness/seed.ts';
import type { SeededRouter } from '../harness/seed.ts';
import { waitUntil } from '../harness/wait-until.ts';
import { WebhookReceiver } from '../harness/webhook-receiver.ts';

/** What people find in their mailboxes, and their programs at their webhooks: real Postfix, moved clock (NOTIFY: bars 1, 5 and 6). */

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const START = Date.parse('2026-01-05T12:00:00Z');
const PEOPLE = ['ana', 'ben', 'eve'];
const RUNS = 10;
/** As `makeAddresses` signs. */
const SECRET = 'whsec_dGVzdHRlc3R0ZXN0dGVzdHRlc3R0ZXN0';

describe.skipIf(!hasPostfix)('people with a mailbox and a webhook', () => {
  let postfix: Postfix;
  let runs = 0;

  beforeAll(async () => {
    const mailboxes = Array.from({ length: RUNS }, (_, n) => PEOPLE.map((name) => `${name}-${n + 1}`)).flat();
    postfix = await startPostfix({ mailboxes });
  });
  afterAll(() => postfix.close(), 60_000);

  describeEachDatabase('of a group', (open) => {
    let storage: Storage;
    let clock: ManualClock;
    let mine: SeededRouter;
    let group: string;
    let channel: EmailChannel;
    let poster: Poster;
    let receiver: WebhookReceiver;
    let bench: NotifyBench;
    let facts: FaultFacts;
    /** Ids, in the order of the names. */
    let people: string[];
    let targets: string[];

    beforeEach(async () => {
      runs += 1;
      storage = await open();
      clock = new ManualClock(START);
      mine = await seedRouter(storage);
      group = await followKinds(storage, mine.teamId, ['*']);
      receiver = await WebhookReceiver.start();
      const from = { name: 'Signalbox', address: 'alerts@example.com' };
      const smtp = { host: '127.0.0.1', port: postfix.port, implicitTls: false, user: null, passwordFile: null, from };
      channel = new EmailChannel({ smtp, now: () => clock.now() });
      poster = new Poster({ rules: { allowLoopback: true }, resolve: async () => ['127.0.0.1'], deadlineMs: 10_000 });
      const webhook = new WebhookChannel({ poster, now: () => Date.now() });
      const channels = { email: channel, webhook };
      const made = makeAddresses({ storage, clock, channels });
      bench = new NotifyBench(storage, clock, new ProvedAddresses(made.groupAddresses, made.messageLinks), made.messageLinks, channels);
      facts = new FaultFacts(storage, clock, bench, mine.teamId);
      people = [];
      targets = [];
      for (const name of PEOPLE) {
        const email = `${mailboxOf(name)}@example.com`;
        people.push(await seedPerson(storage, mine.teamId, email, group));
        await new TeamsService({ storage, clock }).confirmEmail(email);
        const address = { url: `${receiver.url}/${name}` };
        const { id } = await made.targets.create(mine.teamId, { name, channel: 'webhook', address });
        await storage.db.updateTable('notification_targets').set({ verified_at: 1 }).where('id', '=', id).execute();
        targets.push(id);
      }
      await new GroupsService({ storage, clock }).change(mine.teamId, group, { targets });
    });

    afterEach(async () => {
      await bench.messages.stop();
      channel.close();
      await poster.close();
      await receiver.close();
    });

    const mailboxOf = (name: string): string => `${name}-${runs}`;

    const mailsSent = async (): Promise<number> =>
      (await bench.log()).filter(({ channel: by, state }) => by === 'email' && state === 'sent').length;

    /** Every mail that Postfix took for this person, at least so many. What it has taken it delivers, some milliseconds later. */
    async function mailsOf(name: string, atLeast: number) {
      const to = `<${mailboxOf(name)}@example.com>`;
      const mails = await waitUntil(`${atLeast} mails for ${to}`, async () => {
        const delivered = (await postfix.log()).split('\n').filter((line) => line.includes(`to=${to}`) && line.includes('status=sent'));
        const found = await postfix.mailsOf(mailboxOf(name));
        return found.length >= atLeast && delivered.length === found.length ? found : undefined;
      });
      return mails.map(readMail);
    }

    function webhooksOf(name: string): { type: string }[] {
      return receiver.received
        .filter(({ path }) => path === `/${name}`)
        .map(({ headers, body }) => new Webhook(SECRET).verify(body, headers) as { type: string });
    }

    test('an agent with 500 routers that is killed: one message for each of three people and two channels, and one end', async () => {
      const agent = await AgentWithRouters.start(storage, clock, mine, 500);
      await agent.kill();
      await bench.pass(20 * MINUTE);
      for (const name of PEOPLE) {
        const [mail, ...others] = await mailsOf(name, 1);
        expect(others).toEqual([]);
        expect(mail!.headers['subject']).toContain('500 routers');
        expect(webhooksOf(name).map(({ type }) => type)).toEqual(['notification.open']);
      }
      await agent.comeBack();
      await agent.stop();
      await bench.pass(3 * HOUR);
      for (const name of PEOPLE) {
        const [opening, end, ...others] = await mailsOf(name, 2);
        expect(others).toEqual([]);
        expect(end!.headers['subject']).toMatch(/^Over: /);
        expect(end!.headers['in-reply-to']).toBe(opening!.headers['message-id']);
        expect(webhooksOf(name).map(({ type }) => type)).toEqual(['notification.open', 'notification.resolve']);
      }
      expect(await mailsSent()).toBe(6);
      expect(receiver.received).toHaveLength(6);
      expect(await bench.log()).toHaveLength(12);
    });

    test('a router up and down every 2 minutes for 6 hours: at most 3 messages for each person and channel', async () => {
      for (let n = 0; n < 90; n += 1) {
        await facts.happen(facts.fault('open', mine.routerId));
        await bench.pass(2 * MINUTE);
        await facts.happen(facts.fault('resolve', mine.routerId));
        await bench.pass(2 * MINUTE);
      }
      expect(await mailsSent()).toBe(9);
      for (const name of PEOPLE) {
        const subjects = (await mailsOf(name, 3)).map(({ headers }) => headers['subject']);
        expect(subjects).toHaveLength(3);
        expect(webhooksOf(name).map(({ type }) => type)).toEqual(['notification.open', 'notification.resolve', 'notification.update']);
      }
    });

    test('a mail server that is away for an hour while 20 faults open and 15 end: 5 openings, 15 that were away, nothing else', async () => {
      const groups = new GroupsService({ storage, clock });
      await groups.change(mine.teamId, group, { recipients: [people[0]!], targets: [targets[0]!] });
      const [ana] = PEOPLE;
      const routers: string[] = [];
      // Each of an agent of its own: those of one agent that go one after the other are told together.
      for (let n = 0; n < 20; n += 1) routers.push((await seedRouter(storage, { teamId: mine.teamId })).routerId);
      await postfix.stop();
      for (const [index, routerId] of routers.entries()) {
        await facts.happen(facts.fault('open', routerId));
        await bench.pass(MINUTE);
        if (index >= 5) await facts.happen(facts.fault('resolve', routerId));
        await bench.pass(2 * MINUTE);
      }
      expect(await mailsSent()).toBe(0);
      await postfix.start();
      await bench.pass(2 * HOUR);
      expect(await mailsSent()).toBe(20);
      const subjects = (await mailsOf(ana!, 20)).map(({ headers }) => headers['subject'] ?? '');
      expect(subjects.filter((subject) => subject.startsWith('MikroTik: offline since '))).toHaveLength(5);
      expect(subjects.filter((subject) => /^Over: MikroTik: offline from .*, 1 min$/.test(subject))).toHaveLength(15);
      expect(subjects).toHaveLength(20);
      // Whose program answered all the time heard everything at its time.
      const types = webhooksOf(ana!).map(({ type }) => type);
      expect(types.filter((type) => type === 'notification.open')).toHaveLength(20);
      expect(types.filter((type) => type === 'notification.resolve')).toHaveLength(15);
      expect((await bench.log()).filter(({ state }) => state === 'failed' || state === 'pending')).toEqual([]);
    });
  });
});
