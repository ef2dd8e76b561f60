import { beforeEach, expect, test } from 'vitest';
import { auditRoutes } from '../../server/access/audit/routes.ts';
import { AuditService } from '../../server/access/audit/service.ts';
import { CredentialsService } from '../../server/access/credentials/service.ts';
import type { App } from '../../server/platform/http/app.ts';
import { SitesService } from '../../server/fleet/sites/service.ts';
import { siteRoutes } from '../../server/fleet/sites/routes.ts';
import { reportWrites } from '../../server/platform/http/audit-hook.ts';
import { describeEachDatabase } from '../harness/databases.ts';
import { ManualClock } from '../harness/manual-clock.ts';
import { seedTeam } from '../harness/seed.ts';
import { silentLog } from '../harness/silent-log.ts';
import { TeamApp } from '../harness/team-app.ts';

const START = 1_700_000_000_000;

interface Entry {
  at: string;
  actor_id: string;
  action: string;
  result: number;
}

describeEachDatabase('the audit log', (open) => {
  let clock: ManualClock;
  let audit: AuditService;
  let auth: CredentialsService;
  let app: TeamApp;
  let north: string;
  let south: string;

  beforeEach(async () => {
    const storage = await open();
    clock = new ManualClock(START);
    audit = new AuditService({ storage, clock, log: silentLog });
    auth = new CredentialsService({ storage, clock, log: silentLog });
    app = new TeamApp((scope: App) => {
      reportWrites(
        scope,
        (record) => audit.record(record),
        () => performance.now(),
      );
      auditRoutes(scope, { audit });
      scope.put('/:group(^[0-9]+$)', async () => ({ ok: true }));
      scope.post('/things/:id', { config: { role: 'operator' } }, async () => ({ ok: true }));
      scope.post('/questions', { config: { readsOnly: true } }, async () => ({ ok: true }));
      siteRoutes(scope, new SitesService({ storage, clock }));
    });
    north = (await seedTeam(storage)).teamId;
    south = (await seedTeam(storage)).teamId;
  });

  async function entries(query = ''): Promise<Entry[]> {
    return (await app.get(north, `/api/audit${query}`)).body['data'] as Entry[];
  }

  test('every write is listed with who, when, from where, what and its result; reads are not', async () => {
    await app.ask(north, 'POST', '/things/7?secret=x', {}, 'operator');
    await app.ask(north, 'POST', '/things/8', {}, 'viewer');
    await app.ask(north, 'PUT', '/42', {});
    const listed = await entries();
    expect(listed).toHaveLength(3);
    expect(listed).toContainEqual({
      id: expect.any(String),
      at: new Date(START).toISOString(),
      actor_kind: 'api_key',
      actor_id: `${north}/operator`,
      actor_name: null,
      source: '127.0.0.1',
      action: 'POST /things/:id',
      target: '/things/7',
      result: 200,
      detail: null,
    });
    expect(listed).toContainEqual(expect.objectContaining({ actor_id: `${north}/viewer`, result: 403 }));
    expect(listed).toContainEqual(expect.objectContaining({ action: 'PUT /:group', target: '/42' }));
    expect((await app.get(south, '/api/audit')).body['data']).toEqual([]);
  });

  test('what changes nothing is not listed, whatever its method', async () => {
    expect((await app.ask(north, 'POST', '/questions', {})).status).toBe(200);
    expect(await entries()).toEqual([]);
  });

  test('names what it was about, also once that is gone, and the fields that were refused, but not their values', async () => {
    const ask = (...[method, url, body]: [Parameters<TeamApp['ask']>[1], string, object?]) => {
      clock.advance(1);
      return app.ask(north, method, url, body);
    };
    const made = await ask('POST', '/api/sites', { name: 'Riga' });
    const { id } = made.body['data'] as { id: string };
    await ask('PATCH', `/api/sites/${id}`, { name: 'Riga 2' });
    await ask('POST', '/api/sites', { name: 'Riga 2' });
    await ask('DELETE', `/api/sites/${id}`);
    await ask('POST', '/api/sites', { name: 'secret'.repeat(100) });
    const listed = (await entries()) as (Entry & { detail: string | null })[];
    expect(listed.toReversed().map(({ detail, result }) => [detail, result])).toEqual([
      ['Riga', 200],
      ['Riga 2', 200],
      ['Riga 2', 409],
      ['Riga 2', 204],
      ['refused: name', 422],
    ]);
  });

  test('a key is called by its name', async () => {
    const { key } = await auth.createApiKey({ teamId: north, name: 'billing', createdBy: null });
    audit.record({ team_id: north, actor_kind: 'api_key', actor_id: key.id, source: '::1', action: 'PUT /x', target: '/x', result: 200 });
    expect(await entries()).toMatchObject([{ actor_id: key.id, actor_name: 'billing' }]);
  });

  test('filters and pages', async () => {
    for (const [minute, [role, id]] of (
      [
        ['operator', 1],
        ['admin', 2],
        ['operator', 3],
        ['admin', 4],
      ] as const
    ).entries()) {
      clock.advance(START + minute * 60_000 - clock.now());
      await app.ask(north, 'POST', `/things/${id}`, {}, role);
    }
    const ids = (list: Entry[]): string[] => (list as (Entry & { target: string })[]).map(({ target }) => target.slice(8));
    const at = (minute: number): string => new Date(START + minute * 60_000).toISOString();
    expect(ids(await entries())).toEqual(['4', '3', '2', '1']);
    expect(ids(await entries(`?actor=${north}/operator`))).toEqual(['3', '1']);
    expect(ids(await entries('?action=POST%20/things'))).toHaveLength(4);
    expect(ids(await entries('?action=PUT'))).toEqual([]);
    expect(ids(await entries(`?since=${at(1)}&until=${at(3)}`))).toEqual(['3', '2']);
    const first = await app.get(north, '/api/audit?limit=3&action=POST');
    const next = /<(.*)>; rel="next"/.exec(String(first.headers['link']))![1]!;
    expect(ids((await app.get(north, next)).body['data'] as Entry[])).toEqual(['1']);
  });

  test.each(['since=yesterday', 'until=2024', 'limit=0', 'cursor=x'])('%s is refused by name', async (query) => {
    const answer = await app.get(north, `/api/audit?${query}`);
    expect(answer).toMatchObject({ status: 422, body: { errors: { [query.split('=')[0]!]: [expect.any(String)] } } });
  });

  test('only administrators read it', async () => {
    expect((await app.ask(north, 'GET', '/api/audit', undefined, 'operator')).status).toBe(403);
  });
});
