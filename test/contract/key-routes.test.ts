import { beforeEach, describe, expect, test } from 'vitest';
import { agentRoutes } from '../../server/fleet/agents/routes.ts';
import { apiKeyRoutes } from '../../server/access/credentials/routes.ts';
import { AgentsService } from '../../server/fleet/agents/service.ts';
import { CredentialsService } from '../../server/access/credentials/service.ts';
import { newId } from '../../server/platform/core/ids.ts';
import { SitesService } from '../../server/fleet/sites/service.ts';
import type { Storage } from '../../server/platform/storage/db.ts';
import { describeEachDatabase } from '../harness/databases.ts';
import { ManualClock } from '../harness/manual-clock.ts';
import { seedTeam } from '../harness/seed.ts';
import { silentLog } from '../harness/silent-log.ts';
import { TeamApp } from '../harness/team-app.ts';

const MINUTE = 60_000;
const START = 1_700_000_000_000;
const UNKNOWN = '01890000-0000-7000-8000-000000000000';

interface Made {
  id: string;
  api_key: string;
}

describeEachDatabase('keys, agents and enrolment', (open) => {
  let storage: Storage;
  let clock: ManualClock;
  let auth: CredentialsService;
  let app: TeamApp;
  let connected: Set<string>;
  let dropped: string[];
  let north: string;
  let south: string;

  beforeEach(async () => {
    storage = await open();
    clock = new ManualClock(START);
    connected = new Set();
    dropped = [];
    auth = new CredentialsService({ storage, clock, log: silentLog });
    const gateway = {
      isConnected: (agentId: string) => connected.has(agentId),
      disconnect: (agentId: string) => void connected.delete(agentId),
    };
    app = new TeamApp((scope) => {
      apiKeyRoutes(scope, { credentials: auth, now: () => clock.now() });
      agentRoutes(scope, {
        agents: new AgentsService(storage),
        credentials: auth,
        sessions: { lines: async () => new Map() },
        gateway,
        sites: new SitesService({ storage, clock }),
        removals: { removeAgent: async () => 0 },
        onRevoked: async (teamId, agentId) => void dropped.push(`${teamId} ${agentId}`),
      });
    });
    north = (await seedTeam(storage)).teamId;
    south = (await seedTeam(storage)).teamId;
  });

  async function make(body: object = { name: 'billing' }): Promise<Made> {
    return (await app.ask(north, 'POST', '/api/api-keys', body)).body['data'] as Made;
  }
  async function listed(id: string): Promise<unknown> {
    const { body } = await app.get(north, '/api/api-keys');
    return (body['data'] as Made[]).find((key) => key.id === id);
  }

  describe('API keys', () => {
    test('a new key works; it is shown once, and listed without its secret', async () => {
      const answer = await app.ask(north, 'POST', '/api/api-keys', {
        name: ' billing ',
        role: 'operator',
        expires_at: '2024-01-01T01:00:00+01:00',
      });
      const { api_key: apiKey, ...shown } = answer.body['data'] as Made;
      expect(answer.headers['cache-control']).toBe('no-store');
      expect(shown).toMatchObject({
        name: 'billing',
        role: 'operator',
        status: 'live',
        expires_at: '2024-01-01T00:00:00.000Z',
        created_by: `${north}/admin`,
      });
      expect(await auth.authenticateApiKey(apiKey)).toMatchObject({ id: shown.id, role: 'operator' });
      const list = await app.get(north, '/api/api-keys');
      expect(list.body['data']).toEqual([shown]);
      expect(JSON.stringify(list.body)).not.toContain(apiKey.split(':')[2]);
    });

    test('without a role a key can do what its maker can', async () => {
      expect(await make()).toMatchObject({ role: 'admin', expires_at: null });
    });

    test.each([
      ['name', {}],
      ['name', { name: '' }],
      ['role', { name: 'x', role: 'root' }],
      ['expires_at', { name: 'x', expires_at: 'tomorrow' }],
      ['expires_at', { name: 'x', expires_at: '2001-01-01T00:00:00Z' }],
    ])('%s is refused by name: %j', async (field, body) => {
      expect(await app.ask(north, 'POST', '/api/api-keys', body)).toMatchObject({
        status: 422,
        body: { errors: { [field]: [expect.any(String)] } },
      });
    });

    test('a rotated key works for the overlap, its successor from now on', async () => {
      const old = await make({ name: 'billing', role: 'viewer' });
      const answer = await app.ask(north, 'POST', `/api/api-keys/${old.id}/rotate`);
      const next = answer.body['data'] as Made;
      expect(next).toMatchObject({ name: 'billing', role: 'viewer', expires_at: null });
      expect(await listed(old.id)).toMatchObject({ replaced_by: next.id, status: 'live' });
      clock.advance(60 * MINUTE - 1);
      expect(await auth.authenticateApiKey(old.api_key)).toBeDefined();
      clock.advance(1);
      expect(await auth.authenticateApiKey(old.api_key)).toBeUndefined();
      expect(await auth.authenticateApiKey(next.api_key)).toMatchObject({ role: 'viewer' });
      expect(await listed(old.id)).toMatchObject({ status: 'expired' });
    });

    test('without an overlap the old key ends at once; an overlap never prolongs a key', async () => {
      const old = await make();
      await app.ask(north, 'POST', `/api/api-keys/${old.id}/rotate`, { overlap_minutes: 0 });
      expect(await auth.authenticateApiKey(old.api_key)).toBeUndefined();
      const short = await make({ name: 'x', expires_at: new Date(START + MINUTE).toISOString() });
      const next = await app.ask(north, 'POST', `/api/api-keys/${short.id}/rotate`, { overlap_minutes: 90 });
      expect(next.body['data']).toMatchObject({ expires_at: new Date(START + MINUTE).toISOString() });
      clock.advance(MINUTE);
      expect(await auth.authenticateApiKey(short.api_key)).toBeUndefined();
    });

    test('a key is rotated once, also when two ask at once', async () => {
      const { id } = await make();
      const answers = await Promise.all([1, 2].map(() => app.ask(north, 'POST', `/api/api-keys/${id}/rotate`)));
      expect(answers.map(({ status }) => status).sort((a, b) => a - b)).toEqual([200, 409]);
      expect((await app.get(north, '/api/api-keys')).body['data']).toHaveLength(2);
    });

    test('rotating again and again, with an overlap, does not make keys without end', async () => {
      const rows = Array.from({ length: 1999 }, (_, index) => ({
        id: newId(START + index),
        team_id: north,
        name: 'spare',
        secret_hash: '',
        role: 'viewer',
        created_by: null,
        created_at: START,
        last_used_at: null,
        expires_at: null,
        revoked_at: null,
        replaced_by: null,
      }));
      for (let at = 0; at < rows.length; at += 500)
        await storage.db
          .insertInto('api_keys')
          .values(rows.slice(at, at + 500))
          .execute();
      const last = rows.at(-1)!.id;
      const rotate = async (id: string, overlap_minutes: number) =>
        app.ask(north, 'POST', `/api/api-keys/${id}/rotate`, { overlap_minutes });
      expect(await rotate(last, 60)).toMatchObject({ status: 200 });
      const { id } = rows[0]!;
      expect(await rotate(id, 60)).toMatchObject({ status: 409, body: { code: 'quota_exceeded' } });
      expect(await storage.db.selectFrom('api_keys').select('replaced_by').where('id', '=', id).executeTakeFirst()).toEqual({
        replaced_by: null,
      });
      // Without an overlap there are not more of them afterwards.
      expect(await rotate(id, 0)).toMatchObject({ status: 200 });
    });

    test('a revoked key is refused at once and is not rotated', async () => {
      const { id, api_key: apiKey } = await make();
      expect(await app.ask(north, 'DELETE', `/api/api-keys/${id}`)).toMatchObject({ status: 204 });
      expect(await auth.authenticateApiKey(apiKey)).toBeUndefined();
      expect(await listed(id)).toMatchObject({ status: 'revoked', revoked_at: new Date(START).toISOString() });
      expect(await app.ask(north, 'POST', `/api/api-keys/${id}/rotate`)).toMatchObject({ status: 409 });
    });

    test('of another team they do not exist', async () => {
      const { id } = await make();
      expect(await app.ask(south, 'DELETE', `/api/api-keys/${id}`)).toMatchObject({ status: 404 });
      expect(await app.ask(south, 'POST', `/api/api-keys/${id}/rotate`)).toMatchObject({ status: 404 });
      expect((await app.get(south, '/api/api-keys')).body['data']).toEqual([]);
    });
  });

  describe('agents', () => {
    async function enrol(): Promise<string> {
      const { body } = await app.ask(north, 'POST', '/api/enrol-tokens');
      const { token } = body['data'] as { token: string };
      return (await auth.enrolAgent(token, 'gw')).agent_id;
    }

    test('a token is shown once and enrols an agent, which is listed', async () => {
      const siteId = newId(START);
      await storage.db
        .insertInto('sites')
        .values({ id: siteId, team_id: north, name: 'Depot', time_zone: null, latitude: null, longitude: null, created_at: 1 })
        .execute();
      const made = await app.ask(north, 'POST', '/api/enrol-tokens', { site_id: siteId.toUpperCase() });
      const { token, ...shown } = made.body['data'] as { token: string; id: string };
      expect(made.headers['cache-control']).toBe('no-store');
      expect(shown).toMatchObject({ site_id: siteId, used_at: null, agent_id: null });
      expect((await app.get(north, '/api/enrol-tokens')).body['data']).toEqual([shown]);
      const { agent_id: id } = await auth.enrolAgent(token, 'gw');
      expect((await app.get(north, '/api/agents')).body['data']).toMatchObject([
        { id, name: 'gw', site_id: siteId, connected: false, revoked_at: null },
      ]);
      expect((await app.get(north, '/api/enrol-tokens')).body['data']).toMatchObject([
        { agent_id: id, used_at: new Date(START).toISOString() },
      ]);
    });

    test('an unused token can be revoked, by its own team', async () => {
      const { body } = await app.ask(north, 'POST', '/api/enrol-tokens');
      const { id, token } = body['data'] as { id: string; token: string };
      expect(await app.ask(south, 'DELETE', `/api/enrol-tokens/${id}`)).toMatchObject({ status: 404 });
      expect(await app.ask(north, 'DELETE', `/api/enrol-tokens/${id}`, undefined, 'operator')).toMatchObject({ status: 403 });
      expect(await app.ask(north, 'DELETE', `/api/enrol-tokens/${id}`)).toMatchObject({ status: 204 });
      expect(await app.ask(north, 'DELETE', `/api/enrol-tokens/${id}`)).toMatchObject({ status: 204 });
      const listed = await app.get(north, '/api/enrol-tokens');
      expect(listed.body['data']).toMatchObject([{ id, status: 'revoked', revoked_at: new Date(START).toISOString() }]);
      expect(JSON.stringify(listed.body)).not.toContain(token);
      await expect(auth.enrolAgent(token, 'gw')).rejects.toMatchObject({
        code: 'unauthenticated',
        message: expect.stringContaining('was revoked'),
      });
    });

    test('a used token cannot be revoked: its agent can', async () => {
      await enrol();
      const [used] = (await app.get(north, '/api/enrol-tokens')).body['data'] as { id: string }[];
      expect(used).toMatchObject({ status: 'used' });
      expect(await app.ask(north, 'DELETE', `/api/enrol-tokens/${used!.id}`)).toMatchObject({ status: 409 });
    });

    test('a site of another team is none', async () => {
      expect(await app.ask(north, 'POST', '/api/enrol-tokens', { site_id: UNKNOWN })).toMatchObject({
        status: 422,
        body: { errors: { site_id: [expect.any(String)] } },
      });
    });

    test('revoking an agent cuts its tunnel, and what else hangs on it', async () => {
      const id = await enrol();
      connected.add(id);
      expect((await app.get(north, '/api/agents')).body['data']).toMatchObject([{ connected: true }]);
      expect(await app.ask(south, 'DELETE', `/api/agents/${id}`)).toMatchObject({ status: 404 });
      expect(dropped).toEqual([]);
      expect(await app.ask(north, 'DELETE', `/api/agents/${id}`)).toMatchObject({ status: 204 });
      expect(dropped).toEqual([`${north} ${id}`]);
      expect((await app.get(north, '/api/agents')).body['data']).toMatchObject([{ connected: false, revoked_at: expect.any(String) }]);
      expect((await app.get(south, '/api/agents')).body['data']).toEqual([]);
    });
  });

  test.each([
    ['GET', '/api/agents', 'viewer'],
    ['GET', '/api/api-keys', 'admin'],
    ['POST', '/api/api-keys', 'admin'],
    ['POST', `/api/api-keys/${UNKNOWN}/rotate`, 'admin'],
    ['DELETE', `/api/api-keys/${UNKNOWN}`, 'admin'],
    ['DELETE', `/api/agents/${UNKNOWN}`, 'admin'],
    ['GET', '/api/enrol-tokens', 'admin'],
    ['POST', '/api/enrol-tokens', 'admin'],
  ] as const)('%s %s needs the role %s', async (method, url, role) => {
    for (const actual of ['viewer', 'operator', 'admin'] as const) {
      const { status } = await app.ask(north, method, url, method === 'POST' ? {} : undefined, actual);
      expect(status === 403, actual).toBe(role === 'admin' && actual !== 'admin');
    }
  });
});
