import fc from 'fast-check';
import { sql } from 'kysely';
import { beforeAll, expect, test } from 'vitest';
import { AgentsService } from '../../server/fleet/agents/service.ts';
import { AuditService } from '../../server/access/audit/service.ts';
import { historyRoutes } from '../../server/fleet/history/routes.ts';
import { HistoryService } from '../../server/fleet/history/service.ts';
import { AGENT_SOURCES, selectNames, SOURCES } from '../../server/fleet/history/store.ts';
import { AGENT_HISTORY_KINDS, HISTORY_KINDS } from '../../server/fleet/history/types.ts';
import type { HistoryKind } from '../../server/fleet/history/types.ts';
import { RoutersService } from '../../server/fleet/routers/service.ts';
import { newId } from '../../server/platform/core/ids.ts';
import type { Role } from '../../server/platform/core/principal.ts';
import type { Storage } from '../../server/platform/storage/db.ts';
import { describeEachDatabase } from '../harness/databases.ts';
import { ManualClock } from '../harness/manual-clock.ts';
import { seedBackups, seedFaults, seedForwards, seedJobs, seedTerminals } from '../harness/many-records.ts';
import { seedManyRouters } from '../harness/many-routers.ts';
import type { ManyRouters } from '../harness/many-routers.ts';
import { learnSizes, plansOf } from '../harness/plans.ts';
import { silentLog } from '../harness/silent-log.ts';
import { TeamApp } from '../harness/team-app.ts';

const START = 1_700_000_000_000;
/** Records of each kind. */
const COUNT = 600;
const ROUTERS = 40;

interface Item {
  id: string;
  kind: HistoryKind;
  at: string;
  until: string | null;
  status: string;
  title: string;
  by: string | null;
  link: string | null;
}

/** Runs of the control plane with and without a time between them, one that was killed, and the present one. */
async function seedRuns(storage: Storage): Promise<void> {
  const runs = Array.from({ length: 81 }, (_, index) => {
    const from = START + index * 10;
    // Every fourth run follows at once, as after a step of the clock.
    const to = from + (index % 4 === 3 ? 10 : 7);
    return { id: newId(from), started_at: from, alive_at: to, stopped_at: index === 5 || index === 80 ? null : to };
  });
  await storage.db.insertInto('server_runs').values(runs).execute();
}

/** Records of all kinds of a team, several in the same millisecond. */
async function seedPast(storage: Storage, team: ManyRouters, keyId: string): Promise<void> {
  const { db } = storage;
  const { teamId, routers, agents } = team;
  const jobs = await seedJobs(storage, team, COUNT, START);
  await seedFaults(storage, team, COUNT, START);
  await seedForwards(storage, team, COUNT, START);
  await seedTerminals(storage, team, COUNT, START);
  await seedBackups(storage, team, jobs, START);
  const all = Array.from({ length: COUNT }, (_, index) => ({
    at: START + Math.floor(index / 3),
    router: routers[index % ROUTERS]!,
    index,
  }));
  await db
    .insertInto('router_state_changes')
    .values(
      all.map(({ at, router, index }) => {
        const state = index % 2 === 0 ? 'answering' : 'not_answering';
        return {
          id: newId(at),
          team_id: teamId,
          router_id: router,
          state,
          reason: index % 2 === 0 ? null : 'refused',
          since: at,
          until: at + 1,
        };
      }),
    )
    .execute();
  await db
    .insertInto('agent_sessions')
    .values(
      all.map(({ at, index }) => ({
        id: newId(at),
        team_id: teamId,
        agent_id: agents[index % agents.length]!,
        epoch: index,
        opened_at: at,
        address: '192.0.2.1',
        reset: 0 as const,
        ended_by: 'left',
        closed_at: at + 1,
        pings_answered: 0,
        pings_lost: 0,
      })),
    )
    .execute();
  await db
    .insertInto('audit_log')
    .values(
      all.map(({ at, router, index }) => ({
        id: newId(at),
        team_id: teamId,
        at,
        actor_kind: 'api_key',
        actor_id: keyId,
        source: '192.0.2.1',
        detail: null,
        ...(index % 5 === 0
          ? { action: 'POST /api/asynchronous/:router_id', target: `/api/asynchronous/${router}`, result: 200, router_id: router }
          : { action: 'POST /api/synchronous/:router_id', target: `/api/synchronous/${router}`, result: 200, router_id: router }),
      })),
    )
    .execute();
}

describeEachDatabase('the history of a router', (open) => {
  let storage: Storage;
  let app: TeamApp;
  let mine: ManyRouters;
  let other: ManyRouters;
  const keys = new Map<string, string>();
  const actorOf = ({ teamId }: ManyRouters): string => keys.get(teamId)!;
  let id: string;

  beforeAll(async () => {
    storage = await open();
    const clock = new ManualClock(START);
    const routers = new RoutersService({ storage, clock, log: silentLog, rules: { offlineAfterMs: 60_000 } });
    const audit = new AuditService({ storage, clock, log: silentLog });
    const history = new HistoryService({ storage, routers, agents: new AgentsService(storage), recorders: { action: audit } });
    app = new TeamApp((scope) => historyRoutes(scope, { history }));
    await seedRuns(storage);
    [mine, other] = [await seedManyRouters(storage, ROUTERS), await seedManyRouters(storage, ROUTERS)];
    for (const team of [mine, other]) {
      const keyId = newId(START);
      keys.set(team.teamId, keyId);
      await storage.db
        .insertInto('api_keys')
        .values({
          id: keyId,
          team_id: team.teamId,
          name: `key of ${team.teamId}`,
          secret_hash: keyId,
          role: 'admin',
          created_by: null,
          created_at: START,
          last_used_at: null,
          expires_at: null,
          revoked_at: null,
          replaced_by: null,
        })
        .execute();
      await seedPast(storage, team, keyId);
    }
    id = mine.routers[0]!;
    // One that was recorded a moment ago, and is not written yet.
    audit.record({
      team_id: mine.teamId,
      actor_kind: 'user',
      actor_id: newId(1),
      source: '192.0.2.1',
      action: 'PATCH /api/routers/:router_id',
      target: `/api/routers/${id}`,
      result: 422,
      router_id: id,
    });
    clock.advance(5000);
  });

  const get = async (
    query: string,
    { routerId = id, teamId = mine.teamId, role = 'admin' }: { routerId?: string | undefined; teamId?: string; role?: Role } = {},
  ) => {
    const { status, headers, body } = await app.ask(teamId, 'GET', `/api/routers/${routerId}/history${query}`, undefined, role);
    const next = /^<\/api\/routers\/[^/]+\/history(\?[^>]*)>/.exec((headers['link'] as string | undefined) ?? '')?.[1];
    return { status, items: (body['data'] ?? []) as Item[], next, body };
  };
  const whole = async (query = '', asked = {}): Promise<Item[]> => {
    const { status, items, next } = await get(`?limit=1000${query}`, asked);
    expect([status, next]).toEqual([200, undefined]);
    return items;
  };

  test('has every kind, newest first', async () => {
    const items = await whole();
    const counts = Map.groupBy(items, ({ kind }) => kind);
    // 15 of each; sessions are those of its agent, made jobs are no actions as well, and one action is new.
    expect(Object.fromEntries([...counts].map(([kind, found]) => [kind, found.length]))).toEqual({
      state: 15,
      session: COUNT / mine.agents.length,
      fault: 15,
      job: 15,
      forward: 15,
      terminal: 15,
      backup: 15,
      action: 1,
      unknown: 60,
    });
    const moments = items.map(({ at }) => Date.parse(at));
    expect(moments).toEqual(moments.toSorted((one, another) => another - one));
    expect(new Set(items.map((item) => item.id)).size).toBe(items.length);
  });

  test('an item says what it is, who did it and where there is more', async () => {
    const first = async (kind: HistoryKind, routerId = id) => (await whole(`&kind=${kind}`, { routerId })).at(-1);
    expect(await first('state')).toMatchObject({
      status: 'answering',
      title: 'answering',
      until: expect.any(String),
      by: null,
      link: null,
    });
    expect(await first('state', mine.routers[1])).toMatchObject({ status: 'not_answering', title: 'not_answering: refused' });
    expect(await first('session')).toMatchObject({ status: 'left', link: `/api/agents/${mine.agents[0]}/sessions` });
    expect(await first('fault')).toMatchObject({ title: 'm', link: `/api/routers/${id}/faults` });
    const job = await first('job');
    expect(job).toMatchObject({ title: 'job 0', link: `/api/routers/${id}/jobs/${job?.id}` });
    const forward = await first('forward');
    expect(forward).toMatchObject({
      title: '10.0.0.1:22 for 203.0.113.7/32',
      link: `/api/routers/${id}/transient-forwarding/${forward?.id}`,
    });
    const terminal = await first('terminal');
    expect(terminal).toMatchObject({ status: 'exited', title: 'read: ticket 0', link: `/api/terminals/${terminal?.id}` });
    const backup = await first('backup');
    expect(backup).toMatchObject({ title: 'backup', link: `/api/routers/${id}/backups/${backup?.id}` });
    expect(await first('action', mine.routers[1])).toMatchObject({ status: '200', title: 'POST /api/synchronous/:router_id', link: null });
  });

  test('names of keys are those of the team, and only for who may read the audit log', async () => {
    const routerId = mine.routers[1]!;
    const own = `key of ${mine.teamId}`;
    const actions = await whole('&kind=action', { routerId });
    expect(actions.length).toBeGreaterThan(2);
    expect(new Set(actions.map(({ by }) => by))).toEqual(new Set([own]));
    expect(await selectNames(storage.db, other.teamId, [actorOf(mine), actorOf(other)])).toEqual(
      new Map([[actorOf(other), `key of ${other.teamId}`]]),
    );
    for (const role of ['viewer', 'operator'] as const) {
      const items = await whole('', { routerId, role });
      expect(new Set(items.map(({ kind }) => kind))).not.toContain('action');
      expect(items.every(({ by }) => by === null)).toBe(true);
      expect((await get('?kind=action', { routerId, role })).status).toBe(403);
      expect((await get('?kind=action,job', { routerId, role })).status).toBe(200);
    }
  });

  test('kinds and times leave the rest out', async () => {
    const items = await whole();
    const [from, to] = [new Date(START + 30).toISOString(), new Date(START + 120).toISOString()];
    expect(await whole(`&from=${from}&to=${to}`)).toEqual(items.filter(({ at }) => at >= from && at < to));
    expect(await whole('&kind=job,fault')).toEqual(items.filter(({ kind }) => kind === 'job' || kind === 'fault'));
    expect((await get('?kind=weather')).status).toBe(422);
  });

  test('property: pages of any size together are the whole', async () => {
    const items = await whole();
    const kinds = fc.subarray([...HISTORY_KINDS], { minLength: 1 });
    await fc.assert(
      fc.asyncProperty(fc.integer({ min: 3, max: 90 }), kinds, async (limit, chosen) => {
        const seen: Item[] = [];
        for (let query: string | undefined = `?limit=${limit}&kind=${chosen.join(',')}`; query !== undefined;) {
          const page = await get(query);
          expect(page.status).toBe(200);
          seen.push(...page.items);
          query = page.next;
        }
        expect(seen).toEqual(items.filter(({ kind }) => chosen.includes(kind)));
      }),
      { numRuns: 15 },
    );
  });

  test('the time between two runs of the control plane is unknown, neither up nor down', async () => {
    const items = await whole('&kind=unknown');
    expect(items.slice(-4).map(({ at, until }) => [Date.parse(at) - START, Date.parse(until!) - START])).toEqual([
      [47, 50],
      [27, 30],
      [17, 20],
      [7, 10],
    ]);
    expect(items.at(-1)).toMatchObject({ status: 'unknown', title: 'no control plane was running', by: null, link: null });
    // The killed one is unknown since its last sign of life; the present one has no end.
    expect(items.map(({ at }) => Date.parse(at) - START)).toContain(57);
    expect(Date.parse(items[0]!.until!) - START).toBe(790);
    await sql`update routers set created_at = ${START + 100} where id = ${mine.routers[2]}`.execute(storage.db);
    const young = await whole('&kind=unknown', { routerId: mine.routers[2] });
    expect(young).toEqual(items.filter(({ at }) => Date.parse(at) >= START + 100));
  });

  test('an agent has its sessions and the same unknown times, and another team has no such agent', async () => {
    const agentId = mine.agents[0]!;
    const read = async (query: string, teamId = mine.teamId) => {
      const { status, body } = await app.ask(teamId, 'GET', `/api/agents/${agentId}/history${query}`, undefined, 'viewer');
      return { status, items: (body['data'] ?? []) as Item[] };
    };
    const { items } = await read('?limit=1000');
    expect(items.filter(({ kind }) => kind === 'session')).toEqual(await whole('&kind=session'));
    expect(items.filter(({ kind }) => kind === 'unknown')).toEqual(await whole('&kind=unknown'));
    expect(items.map(({ at }) => at)).toEqual(
      items
        .map(({ at }) => at)
        .toSorted()
        .reverse(),
    );
    expect((await read('?kind=unknown&limit=1000')).items).toEqual(await whole('&kind=unknown'));
    expect((await read('?kind=job')).status).toBe(422);
    expect((await read('', other.teamId)).status).toBe(404);
    for (const kind of AGENT_HISTORY_KINDS) {
      const ask = { teamId: mine.teamId, agentId, createdAt: START, removedAt: null, from: undefined, to: undefined };
      const plans = await plansOf(storage, (db) => AGENT_SOURCES[kind](db, { ...ask, page: { limit: 5, before: undefined } }));
      for (const { reads, sorted, text } of plans) {
        expect(sorted, text).toBe(0);
        for (const { index } of reads) expect(index, text).not.toBeNull();
      }
    }
  });

  test("another team's router has no history", async () => {
    expect((await get('', { teamId: other.teamId })).status).toBe(404);
    const theirs = await whole('', { routerId: other.routers[0]!, teamId: other.teamId });
    const ours = new Set((await whole()).filter(({ kind }) => kind !== 'unknown').map((item) => item.id));
    expect(theirs.some((item) => ours.has(item.id))).toBe(false);
  });

  test('of a removed router continues without later sessions of its agent', async () => {
    const routerId = mine.routers.at(-1)!;
    const before = await whole('&kind=session', { routerId });
    await storage.db
      .updateTable('routers')
      .set({ removed_at: START + 100 })
      .where('id', '=', routerId)
      .execute();
    const after = await whole('&kind=session', { routerId });
    expect(after).toEqual(before.filter(({ at }) => Date.parse(at) < START + 100));
    expect(after.length).toBeGreaterThan(0);
  });

  test.each(HISTORY_KINDS)('%s: finds its page by an index, sorts nothing and names the team', async (kind) => {
    await learnSizes(storage);
    for (const before of [undefined, { at: START + 50, id: newId(START) }]) {
      const page = { limit: 5, before };
      const ask = { teamId: mine.teamId, routerId: id, agentId: mine.agents[0]!, createdAt: START, removedAt: null, page };
      const plans = [
        ...(await plansOf(storage, (db) => SOURCES[kind](db, { ...ask, from: undefined, to: undefined }))),
        ...(await plansOf(storage, (db) => SOURCES[kind](db, { ...ask, from: START, to: START + 100 }))),
      ];
      expect(plans).toHaveLength(2);
      for (const plan of plans) {
        expect(plan.reads.length, plan.text).toBeGreaterThan(0);
        for (const { index } of plan.reads) expect(index, plan.text).not.toBeNull();
        // Runs of the control plane are no team's.
        if (kind !== 'unknown') {
          expect(plan.statement).toContain('team_id');
          for (const { condition } of plan.reads) expect(condition, plan.text).toMatch(/router_id|agent_id/);
        }
        expect(plan.sorted, plan.text).toBe(0);
      }
    }
    const names = await plansOf(storage, (db) => selectNames(db, mine.teamId, [actorOf(mine)]));
    for (const { reads, text } of names) for (const { index } of reads) expect(index, text).not.toBeNull();
  });
});
