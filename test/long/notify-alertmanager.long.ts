import process from 'node:process';
import { setTimeout as wait } from 'node:timers/promises';
import { describe, expect, onTestFinished, test } from 'vitest';
import { databaseKinds } from '../harness/databases.ts';
import { hasAlertmanager, startAlertmanager } from '../harness/notify/alertmanager.ts';
import { NotifyInstances } from '../harness/notify/instances.ts';
import { SameFacts } from '../harness/notify/same-facts.ts';
import { WebhookReceiver } from '../harness/webhook-receiver.ts';
import type { Received } from '../harness/webhook-receiver.ts';

/**
 * The same facts for Signalbox and for Debian's Alertmanager with its defaults and `group_by: [alertname, site]`, in real time: how many
 * messages each sends, and how soon (NOTIFY: bar 2). It takes a quarter of an hour for each database.
 */

const SECOND = 1000;
const MINUTE = 60 * SECOND;
/** How long an outage lasts: longer than Alertmanager's group_interval, so that its updates are seen. */
const OUTAGE_MS = 7 * MINUTE;
/** Alertmanager tells an end up to five minutes later. */
const PATIENCE_MS = 6 * MINUTE;
/** NOTIFY: bar 2. */
const FIRST_WITHIN_MS = 15 * SECOND;
const END_WITHIN_MS = 30 * SECOND;

interface Case {
  name: string;
  /** What happens; resolves when it is over. */
  play: (facts: SameFacts) => Promise<void>;
  /** It has one end. */
  ends: boolean;
  /** Messages that we may send more than Alertmanager, with the reason. */
  more?: number;
}

/** The routers of all cases are stored by then: what is stored meanwhile would come in bursts. */
const SEEDED_MS = 15 * SECOND;

/** One after the other, `everyMs` apart. */
async function each<Item>(items: readonly Item[], everyMs: number, act: (item: Item) => Promise<void>): Promise<void> {
  const began = Date.now();
  for (const [index, item] of items.entries()) {
    await wait(Math.max(0, began + index * everyMs - Date.now()));
    await act(item);
  }
}

const CASES: Case[] = [
  {
    name: 'one-router',
    ends: true,
    play: async (facts) => {
      const [router] = await facts.addRouters(1, { site: await facts.addSite() });
      await facts.open(router!);
      await wait(OUTAGE_MS);
      await facts.resolve(router!);
    },
  },
  {
    name: 'agent-with-500-routers',
    ends: true,
    play: async (facts) => {
      const routers = await facts.addRouters(500, { site: await facts.addSite(), agentId: await facts.addAgent() });
      await facts.away(routers);
      await wait(OUTAGE_MS);
      await facts.back(routers);
    },
  },
  {
    name: '12-routers-of-a-site-in-24-s',
    ends: true,
    // It goes on for longer than our first message waits, and not for longer than theirs: we add an update.
    more: 1,
    play: async (facts) => {
      const routers = await facts.addRouters(12, { site: await facts.addSite() });
      await each(routers, 2 * SECOND, (router) => facts.open(router));
      await wait(OUTAGE_MS);
      await each(routers, 2 * SECOND, (router) => facts.resolve(router));
    },
  },
  {
    name: '12-routers-of-no-site-in-24-s',
    ends: true,
    more: 1,
    play: async (facts) => {
      const routers = await facts.addRouters(12, { site: null });
      await each(routers, 2 * SECOND, (router) => facts.open(router));
      await wait(OUTAGE_MS);
      await each(routers, 2 * SECOND, (router) => facts.resolve(router));
    },
  },
  {
    name: '12-routers-of-a-site-in-48-s',
    ends: true,
    // The first one is told before the next one opens, and has an end of its own; the others are one message.
    more: 1,
    play: async (facts) => {
      const routers = await facts.addRouters(12, { site: await facts.addSite() });
      await wait(SEEDED_MS);
      await each(routers, 4 * SECOND, (router) => facts.open(router));
      await wait(OUTAGE_MS);
      await each(routers, 4 * SECOND, (router) => facts.resolve(router));
    },
  },
  {
    name: '12-agents-of-a-site-in-48-s',
    ends: true,
    more: 1,
    play: async (facts) => {
      const site = await facts.addSite();
      // Fewer than half of all agents, as below.
      for (let n = 0; n < 20; n += 1) await facts.addAgent();
      const agents = [];
      for (let n = 0; n < 12; n += 1) agents.push(await facts.addRouters(1, { site, agentId: await facts.addAgent() }));
      await wait(SEEDED_MS);
      await each(agents, 4 * SECOND, (routers) => facts.away(routers));
      await wait(OUTAGE_MS);
      await each(agents, 4 * SECOND, (routers) => facts.back(routers));
    },
  },
  {
    name: '40-agents-of-a-site-in-60-s',
    ends: true,
    play: async (facts) => {
      const site = await facts.addSite();
      // Fewer than half of all agents: otherwise the line of the control plane is suspected.
      for (let n = 0; n < 60; n += 1) await facts.addAgent();
      const agents = [];
      for (let n = 0; n < 40; n += 1) agents.push(await facts.addRouters(3, { site, agentId: await facts.addAgent() }));
      await each(agents, 1.5 * SECOND, (routers) => facts.away(routers));
      await wait(OUTAGE_MS);
      await each(agents, 1.5 * SECOND, (routers) => facts.back(routers));
    },
  },
  {
    name: '20-sites-in-20-s',
    ends: true,
    play: async (facts) => {
      const routers = [];
      for (let n = 0; n < 20; n += 1) routers.push(...(await facts.addRouters(1, { site: await facts.addSite() })));
      await each(routers, SECOND, (router) => facts.open(router));
      await wait(OUTAGE_MS);
      await each(routers, SECOND, (router) => facts.resolve(router));
    },
  },
  {
    name: 'up-and-down-every-2-min',
    ends: false,
    play: async (facts) => {
      const [router] = await facts.addRouters(1, { site: await facts.addSite() });
      for (let n = 0; n < 6; n += 1) {
        await facts.open(router!);
        await wait(MINUTE);
        await facts.resolve(router!);
        await wait(MINUTE);
      }
    },
  },
];

describe.skipIf(!hasAlertmanager).each(databaseKinds())('beside Alertmanager, on $name', (database) => {
  test('sends at most as many messages for the same facts, and sooner', { timeout: 30 * MINUTE }, async () => {
    const own = await database.createMigrated();
    onTestFinished(() => own.remove());
    const instances = await NotifyInstances.start({ databaseUrl: own.url, count: 1, teams: CASES.length });
    onTestFinished(() => instances.close());
    const theirs = await WebhookReceiver.start();
    onTestFinished(() => theirs.close());
    const alertmanager = await startAlertmanager({ webhookUrl: theirs.url, groupBy: ['alertname', 'site'] });
    onTestFinished(() => alertmanager.close());

    const all = CASES.map((one, index) => ({
      ...one,
      facts: new SameFacts({ name: one.name, team: instances.teams[index]!, instances, alertmanager }),
    }));
    await Promise.all(all.map(({ play, facts }) => play(facts)));
    await wait(PATIENCE_MS);

    const rows = all.map(({ name, ends, more = 0, facts }) => ({
      name,
      ends,
      /** Messages beyond Alertmanager's. */
      most: more,
      signalbox: measure(
        instances.receiver.received.filter(({ path }) => path === facts.path),
        facts,
      ),
      alertmanager: measure(
        theirs.received.filter(({ body }) => siteOf(body).startsWith(`${name} `)),
        facts,
      ),
    }));
    process.stdout.write(`${database.name}\n${tableOf(rows)}`);
    for (const { name, ends, most, signalbox, alertmanager } of rows) {
      expect(signalbox.messages, name).toBeGreaterThan(0);
      expect(signalbox.messages, name).toBeLessThanOrEqual(alertmanager.messages + most);
      expect(signalbox.firstMs, name).toBeLessThanOrEqual(FIRST_WITHIN_MS);
      if (ends) expect(signalbox.endMs, name).toBeLessThanOrEqual(END_WITHIN_MS);
    }
  });
});

interface Measured {
  messages: number;
  /** From the first fact to the first message. */
  firstMs: number;
  /** From the last end to the last message. */
  endMs: number;
}

function measure(received: readonly Received[], { firstAt, lastEndAt }: SameFacts): Measured {
  const times = received.map(({ at }) => at);
  return { messages: received.length, firstMs: Math.min(...times) - firstAt, endMs: Math.max(...times) - lastEndAt };
}

function siteOf(body: string): string {
  return (JSON.parse(body) as { groupLabels: { site: string } }).groupLabels.site;
}

function tableOf(rows: readonly { name: string; ends: boolean; signalbox: Measured; alertmanager: Measured }[]): string {
  const seconds = (ms: number): string => (ms / SECOND).toFixed(1);
  const cells = rows.map(({ name, ends, signalbox, alertmanager }) => [
    name,
    ...[signalbox, alertmanager].flatMap(({ messages, firstMs, endMs }) => [`${messages}`, seconds(firstMs), ends ? seconds(endMs) : '']),
  ]);
  const head = ['case', 'Signalbox', 'first s', 'end s', 'Alertmanager', 'first s', 'end s'];
  const line = (row: readonly string[]): string => `| ${row.map((cell, n) => cell.padEnd(n === 0 ? 30 : 12)).join(' | ')} |\n`;
  return [head, ...cells].map(line).join('');
}
