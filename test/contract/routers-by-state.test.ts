import { beforeAll, expect, test } from 'vitest';
import { routerListRoute } from '../../server/fleet/routers/list/routes.ts';
import type { RouterListDeps } from '../../server/fleet/routers/list/routes.ts';
import { RoutersService } from '../../server/fleet/routers/service.ts';
import type { RouterStateName, StateOfRouter } from '../../server/fleet/states/types.ts';
import { describeEachDatabase } from '../harness/databases.ts';
import { ManualClock } from '../harness/manual-clock.ts';
import { seedManyRouters } from '../harness/many-routers.ts';
import type { ManyRouters } from '../harness/many-routers.ts';
import { silentLog } from '../harness/silent-log.ts';
import { TeamApp } from '../harness/team-app.ts';

const START = 1_700_000_000_000;
/** Enough for a state that is looked up by ids, and one for which all routers are read. */
const ROUTERS = 1500;

interface Listed {
  id: string;
  identity: string;
  site_id: string | null;
  created_at: string;
}

/** Few answer not, most answer; several have been in their state since the same time. */
function stateOf(index: number): RouterStateName {
  if (index % 97 === 0) return 'not_answering';
  return index % 5 === 0 ? 'agent_away' : 'answering';
}

describeEachDatabase('routers by their states', (open) => {
  let app: TeamApp;
  let mine: ManyRouters;
  let states: Map<string, StateOfRouter>;
  let all: Listed[];

  beforeAll(async () => {
    const storage = await open();
    const clock = new ManualClock(START);
    const routers = new RoutersService({ storage, clock, log: silentLog, rules: { offlineAfterMs: 60_000 } });
    mine = await seedManyRouters(storage, ROUTERS);
    await seedManyRouters(storage, 20);
    states = new Map(
      mine.routers.map((id, index) => [
        id,
        { id, agentId: 'agent', state: stateOf(index), since: START + ((index * 7919) % 100), reason: null },
      ]),
    );
    const deps = {
      routers,
      agents: { names: async () => new Map<string, string>() },
      states: { of: (id: string) => states.get(id), ofTeam: (teamId: string) => (teamId === mine.teamId ? [...states.values()] : []) },
      now: () => clock.now(),
    } as unknown as RouterListDeps;
    app = new TeamApp((scope) => routerListRoute(scope, deps));
    all = (await get('?limit=5000')).data;
  });

  const get = async (query: string) => {
    const { status, headers, body } = await app.get(mine.teamId, `/api/routers${query}`);
    expect(status).toBe(200);
    const next = /^<\/api\/routers(\?[^>]*)>/.exec((headers['link'] as string | undefined) ?? '')?.[1];
    return { data: body['data'] as Listed[], total: body['total'], next };
  };

  const valueOf: Record<string, (router: Listed) => string | number> = {
    created_at: ({ created_at: at }) => at,
    identity: ({ identity }) => identity,
    state_since: ({ id }) => states.get(id)!.since,
  };
  const sorted = (routers: readonly Listed[], sort: string): string[] => {
    const sign = sort.startsWith('-') ? -1 : 1;
    const value = valueOf[sort.replace('-', '')]!;
    const compare = (one: string | number, other: string | number): number => (one < other ? -1 : one > other ? 1 : 0);
    return routers.toSorted((one, other) => sign * (compare(value(one), value(other)) || compare(one.id, other.id))).map(({ id }) => id);
  };

  test.each([
    ['not_answering', ['not_answering']],
    ['agent_away', ['agent_away']],
    ['answering', ['answering']],
    ['!answering', ['agent_away', 'not_answering']],
    ['never_seen', []],
  ])('state=%s has the same routers in every order, with every filter, whole and in pages', async (state, wanted) => {
    const site = mine.sites[1]!;
    const filters: [string, (router: Listed) => boolean][] = [
      ['', () => true],
      [`&site_id=${site}`, (router) => router.site_id === site],
      ['&q=gw-1', (router) => router.identity.includes('gw-1')],
    ];
    for (const [filter, isWanted] of filters) {
      const expected = all.filter((router) => wanted.includes(states.get(router.id)!.state) && isWanted(router));
      for (const sort of ['-created_at', 'identity', 'state_since', '-state_since']) {
        const query = `?state=${state}&sort=${sort}${filter}`;
        const whole = await get(`${query}&limit=5000&total=true`);
        expect(
          whole.data.map(({ id }) => id),
          query,
        ).toEqual(sorted(expected, sort));
        expect(whole.total, query).toBe(expected.length);
        const first = await get(`${query}&limit=7`);
        const second = first.next === undefined ? undefined : await get(first.next);
        const paged = [...first.data, ...(second?.data ?? [])].map(({ id }) => id);
        expect(paged, query).toEqual(sorted(expected, sort).slice(0, paged.length));
        expect(paged.length, query).toBe(Math.min(14, expected.length));
      }
    }
  });

  test('the order alone has all routers', async () => {
    expect((await get('?sort=state_since&limit=5000')).data.map(({ id }) => id)).toEqual(sorted(all, 'state_since'));
  });
});
