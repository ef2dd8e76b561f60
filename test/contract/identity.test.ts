import { createLocalJWKSet, importJWK, jwtVerify, SignJWT } from 'jose';
import { beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { clientRoutes } from '../../server/access/identity/clients/routes.ts';
import { ClientsService } from '../../server/access/identity/clients/service.ts';
import { ProviderKeyring } from '../../server/access/identity/keys/service.ts';
import { RecordAdapter } from '../../server/access/identity/provider/adapter.ts';
import { deleteExpiredRecords } from '../../server/access/identity/provider/store.ts';
import type { Storage } from '../../server/platform/storage/db.ts';
import { Secrets } from '../../server/platform/storage/secrets.ts';
import { TeamsService } from '../../server/access/teams/service.ts';
import { describeEachDatabase } from '../harness/databases.ts';
import { ManualClock } from '../harness/manual-clock.ts';
import { TeamApp } from '../harness/team-app.ts';

const HOUR_MS = 3600_000;
const secrets = new Secrets([{ kid: 'test', bytes: new Uint8Array(32).fill(7) }]);

describeEachDatabase('the identity provider keeps', (open) => {
  let storage: Storage;
  let clock: ManualClock;
  // One database for all: each test works on ids of its own.
  beforeAll(async () => {
    storage = await open();
  });
  beforeEach(() => {
    clock = new ManualClock();
  });

  describe('records', () => {
    const adapter = (model = 'RefreshToken') => new RecordAdapter(model, { storage, secrets, now: () => clock.now() });
    const payload = { accountId: 'ada', clientId: 'tickets', grantId: 'grant-1', jti: 'shown-secret', exp: 1_700_000_600 };

    test('as they were, until they are destroyed', async () => {
      await adapter().upsert('a', { ...payload, uid: 'uid-a' }, 600);
      expect(await adapter().find('a')).toEqual({ ...payload, uid: 'uid-a' });
      expect(await adapter().findByUid('uid-a')).toEqual({ ...payload, uid: 'uid-a' });
      expect(await adapter('Session').find('a')).toBeUndefined();
      await adapter().upsert('a', { ...payload, scope: 'api' }, 600);
      expect(await adapter().find('a')).toEqual({ ...payload, scope: 'api' });
      await adapter().destroy('a');
      expect(await adapter().find('a')).toBeUndefined();
    });

    test('unreadable to who has a copy of the database', async () => {
      await adapter().upsert('shown-secret', payload, 600);
      const rows = JSON.stringify(await storage.db.selectFrom('provider_records').selectAll().execute());
      expect(rows).not.toContain('shown-secret');
      expect(rows).not.toContain('grant-1');
      await adapter().destroy('shown-secret');
    });

    test('which only one of many uses up', async () => {
      await adapter('AuthorizationCode').upsert('code', payload, 60);
      const results = await Promise.allSettled(Array.from({ length: 5 }, () => adapter('AuthorizationCode').consume('code')));
      expect(results.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
      expect(await adapter('AuthorizationCode').find('code')).toMatchObject({ consumed: 1_700_000_000 });
    });

    test('together with their grant', async () => {
      await adapter().upsert('one', { ...payload, grantId: 'g1' }, 60);
      await adapter().upsert('two', { ...payload, grantId: 'g2' }, 60);
      await adapter().revokeByGrantId('g1');
      expect([await adapter().find('one'), await adapter().find('two')]).toEqual([undefined, expect.anything()]);
    });

    test('no longer than they are good for', async () => {
      await adapter('Session').upsert('old', { ...payload, exp: 1000 }, 60);
      await adapter('Session').upsert('new', { ...payload, exp: 5000 }, 60);
      expect(await deleteExpiredRecords(storage, 4_000_000, 100)).toBe(1);
      expect([await adapter('Session').find('old'), await adapter('Session').find('new')]).toEqual([undefined, expect.anything()]);
    });

    test('of a person until the password changes', async () => {
      const teams = new TeamsService({ storage, clock });
      const { id: teamId } = await teams.createTeam('Passwords');
      const { member } = await teams.createUser({ teamId, email: 'ada@example.org', role: 'viewer' });
      await adapter('Session').upsert('hers', { ...payload, accountId: member.userId }, 60);
      await adapter('Session').upsert('another', payload, 60);
      await teams.setPassword(member.userId, 'battery staple');
      expect([await adapter('Session').find('hers'), await adapter('Session').find('another')]).toEqual([undefined, expect.anything()]);
    });
  });

  describe('keys', () => {
    const keyring = () => new ProviderKeyring({ storage, clock, secrets });
    beforeEach(async () => {
      await storage.db.deleteFrom('provider_keys').execute();
    });

    test('that are made once and are encrypted', async () => {
      const first = await keyring().load();
      expect(await keyring().load()).toEqual(first);
      expect(first.signing).toHaveLength(1);
      expect(first.signing[0]).toMatchObject({ kty: 'RSA', alg: 'RS256', use: 'sig' });
      const rows = JSON.stringify(await storage.db.selectFrom('provider_keys').selectAll().execute());
      expect(rows).not.toContain(first.signing[0]!.d);
      expect(rows).not.toContain(first.cookie[0]);
    });

    test('of which a new one is published before it signs, and the old one until its last token is over', async () => {
      const [old] = (await keyring().load()).signing;
      const { id, activeAt } = await keyring().rotate();
      const ids = async () => (await keyring().load()).signing.map(({ kid }) => kid);
      expect(await ids()).toEqual([old!.kid, id]);
      await expect(keyring().rotate()).rejects.toMatchObject({ code: 'conflict' });
      expect(activeAt - clock.now()).toBe(15 * 60_000);
      const before = await keyring().version();
      clock.advance(15 * 60_000);
      expect(await ids()).toEqual([id, old!.kid]);
      expect(await keyring().version()).not.toBe(before);
      await keyring().sweep();
      expect(await ids()).toEqual([id, old!.kid]);
      // What a token has opened is checked against its key for half a day.
      clock.advance(12 * HOUR_MS);
      await keyring().sweep();
      expect(await ids()).toEqual([id, old!.kid]);
      clock.advance(HOUR_MS);
      await keyring().sweep();
      expect(await ids()).toEqual([id]);
    });

    test('whose tokens stay valid during a change of keys, for readers of the published keys', async () => {
      const token = async (key: Awaited<ReturnType<ProviderKeyring['load']>>) =>
        new SignJWT({}).setProtectedHeader({ alg: 'RS256', kid: key.signing[0]!.kid! }).sign(await importJWK(key.signing[0]!, 'RS256'));
      const published = async () => createLocalJWKSet({ keys: (await keyring().load()).signing.map(({ d: _d, ...key }) => key) });
      const before = await token(await keyring().load());
      await keyring().rotate();
      const cached = await published();
      clock.advance(16 * 60_000);
      const after = await token(await keyring().load());
      for (const jwt of [before, after]) await expect(jwtVerify(jwt, cached)).resolves.toBeDefined();
      await expect(jwtVerify(before, await published())).resolves.toBeDefined();
    });

    test('that are all replaced when others may know them', async () => {
      const old = await keyring().load();
      await keyring().rotate();
      const { id } = await keyring().replace();
      const now = await keyring().load();
      expect(now.signing.map(({ kid }) => kid)).toEqual([id]);
      expect(now.cookie).toHaveLength(1);
      expect(now.cookie).not.toEqual(old.cookie);
      expect(await keyring().list()).toMatchObject([{ id, state: 'signing' }]);
    });
  });

  describe('clients', () => {
    let app: TeamApp;
    let clients: ClientsService;
    let north: string;
    let south: string;
    let number = 0;
    beforeEach(async () => {
      number += 1;
      const teams = new TeamsService({ storage, clock });
      clients = new ClientsService({ storage, clock });
      app = new TeamApp((scope) => clientRoutes(scope, { clients }));
      north = (await teams.createTeam(`North ${number}`)).id;
      south = (await teams.createTeam(`South ${number}`)).id;
    });

    const tickets = { name: 'Tickets', kind: 'web', role: 'operator', redirect_uris: ['https://tickets.example.net/callback'] };
    const create = async (fields: object = {}, teamId = north) => app.ask(teamId, 'POST', '/api/clients', { ...tickets, ...fields });
    const dataOf = ({ body }: { body: Record<string, unknown> }) => body['data'] as Record<string, string>;

    test('with a secret that is shown once and kept as a hash', async () => {
      const made = await create();
      expect(made).toMatchObject({
        status: 200,
        headers: { 'cache-control': 'no-store' },
        body: { data: { ...tickets, post_logout_redirect_uris: [] } },
      });
      const { id, client_secret: secret, ...rest } = dataOf(made);
      expect((await app.get(north, `/api/clients/${id}`)).body['data']).toEqual({ id, ...rest });
      const rows = JSON.stringify(await storage.db.selectFrom('clients').selectAll().execute());
      expect(rows).not.toContain(secret);
      const renewed = dataOf(await app.ask(north, 'POST', `/api/clients/${id}/secret`));
      expect(renewed['client_secret']).toMatch(/^sbx_cli_/);
      expect(renewed['client_secret']).not.toBe(secret);
    });

    test('of one team only', async () => {
      const { id } = dataOf(await create());
      for (const [method, path, body] of [
        ['GET', '', undefined],
        ['PATCH', '', { name: 'Mine' }],
        ['POST', '/secret', undefined],
        ['DELETE', '', undefined],
      ] as const) {
        expect((await app.ask(south, method, `/api/clients/${id}${path}`, body)).status).toBe(404);
      }
      expect((await app.get(south, '/api/clients')).body['data']).toEqual([]);
      expect((await app.get(north, '/api/clients')).body['data']).toMatchObject([{ id, name: 'Tickets' }]);
    });

    test('that are changed in parts and deleted', async () => {
      const { id } = dataOf(await create({ post_logout_redirect_uris: ['https://tickets.example.net/bye'] }));
      const changed = await app.ask(north, 'PATCH', `/api/clients/${id}`, { name: 'Helpdesk', role: 'viewer' });
      expect(changed.body['data']).toMatchObject({
        name: 'Helpdesk',
        role: 'viewer',
        redirect_uris: tickets.redirect_uris,
        post_logout_redirect_uris: ['https://tickets.example.net/bye'],
      });
      expect((await app.ask(north, 'PATCH', `/api/clients/${id}`, { redirect_uris: [] })).status).toBe(422);
      expect((await app.ask(north, 'DELETE', `/api/clients/${id}`)).status).toBe(204);
      expect((await app.get(north, `/api/clients/${id}`)).status).toBe(404);
    });

    test('in pages, the newest first', async () => {
      for (const name of ['a', 'b', 'c']) {
        clock.advance(1000);
        await create({ name });
      }
      const first = await app.get(north, '/api/clients?limit=2');
      const names = (answer: typeof first) => (answer.body['data'] as { name: string }[]).map(({ name }) => name);
      expect(names(first)).toEqual(['c', 'b']);
      expect(names(await app.get(north, /<(.+)>/.exec(first.headers['link'] as string)![1]!))).toEqual(['a']);
    });

    test('without a secret, for kinds that can keep none', async () => {
      const { id, client_secret: secret } = dataOf(await create({ kind: 'browser' }));
      expect(secret).toBeNull();
      expect((await app.ask(north, 'POST', `/api/clients/${id}/secret`)).status).toBe(409);
    });

    test('only for administrators, and with no more than they have', async () => {
      expect((await app.ask(north, 'POST', '/api/clients', tickets, 'operator')).status).toBe(403);
      expect((await app.ask(north, 'GET', '/api/clients', undefined, 'operator')).status).toBe(403);
      expect(dataOf(await create({ role: undefined }))['role']).toBe('admin');
    });
  });
});
