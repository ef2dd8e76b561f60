import { beforeEach, describe, expect, test } from 'vitest';
import { preferenceRoutes } from '../../server/access/views/preferences/routes.ts';
import { PreferencesService } from '../../server/access/views/preferences/service.ts';
import { viewRoutes } from '../../server/access/views/routes.ts';
import { MOST_VIEWS, ViewsService } from '../../server/access/views/service.ts';
import type { Principal, Role } from '../../server/platform/core/principal.ts';
import { answerUnchanged } from '../../server/platform/http/unchanged.ts';
import type { Storage } from '../../server/platform/storage/db.ts';
import { newId } from '../../server/platform/core/ids.ts';
import { describeEachDatabase } from '../harness/databases.ts';
import { ManualClock } from '../harness/manual-clock.ts';
import { seedTeam } from '../harness/seed.ts';
import { TeamApp } from '../harness/team-app.ts';

describeEachDatabase('what people save', (open) => {
  let storage: Storage;
  let views: ViewsService;
  let preferences: PreferencesService;
  let teamId: string;
  let otherTeamId: string;

  beforeEach(async () => {
    storage = await open();
    const clock = new ManualClock();
    views = new ViewsService({ storage, clock });
    preferences = new PreferencesService({ storage, clock });
    ({ teamId } = await seedTeam(storage));
    otherTeamId = (await seedTeam(storage)).teamId;
  });

  const person = async (role: Role, teams = [teamId]): Promise<Principal> => {
    const id = newId(1000);
    await storage.db
      .insertInto('users')
      .values({ id, email: `${id}@example.org`, password_hash: null, created_at: 1000 })
      .execute();
    for (const team of teams)
      await storage.db.insertInto('members').values({ team_id: team, user_id: id, role, active: 1, created_at: 1000 }).execute();
    return { kind: 'user', id, teamId, role };
  };
  const key = (role: Role, team = teamId): Principal => ({ kind: 'api_key', id: newId(1000), teamId: team, role });
  const view = (name: string, isShared = false) => ({ list: 'routers' as const, name, query: { state: 'agent_away' }, isShared });
  const page = { limit: 100, before: undefined };
  const namesOf = async (caller: Principal): Promise<string[]> =>
    (await views.list(caller, undefined, page)).map(({ name }) => name).toSorted((one, other) => (one < other ? -1 : 1));

  describe('views', () => {
    test('hold no more than an address does, so that nobody keeps files in them', async () => {
      const ada = await person('viewer');
      const { app } = new TeamApp((scope) => viewRoutes(scope, { views }));
      const save = async (name: string, query: Record<string, string>) =>
        app.inject({
          method: 'POST',
          url: '/api/views',
          headers: { authorization: `Bearer ${teamId}/viewer/${ada.id}` },
          payload: { list: 'routers', name, query },
        });
      const long = (count: number) => Object.fromEntries(Array.from({ length: count }, (_, n) => [`p${'_'.repeat(n)}`, 'x'.repeat(1990)]));
      const refused = await save('too long', long(5));
      expect([refused.statusCode, refused.json()]).toMatchObject([422, { errors: { query: [expect.stringContaining('8000 bytes')] } }]);
      // Counted in bytes, as they are stored.
      expect((await save('too wide', { p: '€'.repeat(1990), q: '€'.repeat(1990) })).statusCode).toBe(422);
      expect((await save('long', long(3))).statusCode).toBe(200);
    });

    test('each sees their own and the team’s, a key the team’s, and another team none', async () => {
      const [ada, bob] = [await person('viewer'), await person('operator')];
      const own = await views.create(ada, view('mine'));
      await views.create(bob, view('mine'));
      await views.create(bob, view('everybody’s', true));
      expect(await namesOf(ada)).toEqual(['everybody’s', 'mine']);
      expect(await namesOf(key('viewer'))).toEqual(['everybody’s']);
      expect(await namesOf(key('admin', otherTeamId))).toEqual([]);
      for (const stranger of [bob, key('admin'), key('admin', otherTeamId), { ...ada, teamId: otherTeamId }]) {
        await expect(views.get(stranger, own.id)).rejects.toMatchObject({ code: 'not_found' });
        await expect(views.change(stranger, own.id, { name: 'x' })).rejects.toMatchObject({ code: 'not_found' });
        await expect(views.delete(stranger, own.id)).rejects.toMatchObject({ code: 'not_found' });
      }
      expect(await views.get(ada, own.id)).toMatchObject({ name: 'mine', query: { state: 'agent_away' } });
    });

    test('a viewer makes and changes their own, and an operator the team’s', async () => {
      const [ada, bob] = [await person('viewer'), await person('operator')];
      await expect(views.create(ada, view('shared', true))).rejects.toMatchObject({ code: 'forbidden' });
      const shared = await views.create(bob, view('shared', true));
      await expect(views.change(ada, shared.id, { name: 'x' })).rejects.toMatchObject({ code: 'forbidden' });
      await expect(views.delete(ada, shared.id)).rejects.toMatchObject({ code: 'forbidden' });
      await expect(views.create(key('admin'), view('own'))).rejects.toMatchObject({ code: 'forbidden' });
      expect(await views.change(key('operator'), shared.id, { query: {} })).toMatchObject({ name: 'shared', query: {} });
      await views.delete(key('operator'), shared.id);
      expect(await namesOf(bob)).toEqual([]);
    });

    test('have one name each, by owner', async () => {
      const [ada, bob] = [await person('operator'), await person('operator')];
      await views.create(ada, view('a'));
      const second = await views.create(ada, view('b'));
      await views.create(bob, view('a'));
      await views.create(bob, view('a', true));
      await expect(views.create(ada, view('a'))).rejects.toMatchObject({ code: 'conflict' });
      await expect(views.create(ada, view('a', true))).rejects.toMatchObject({ code: 'conflict' });
      await expect(views.change(ada, second.id, { name: 'a' })).rejects.toMatchObject({ code: 'conflict' });
      expect(await views.change(ada, second.id, { name: 'b' })).toMatchObject({ name: 'b' });
    });

    test('are limited for each person and for the team, also when many are made at once', async () => {
      const ada = await person('operator');
      const made = await Promise.allSettled(
        Array.from({ length: MOST_VIEWS.ofPerson + 5 }, (_, index) => views.create(ada, view(`v${index}`))),
      );
      expect(made.filter(({ status }) => status === 'fulfilled')).toHaveLength(MOST_VIEWS.ofPerson);
      expect(made.find(({ status }) => status === 'rejected')).toMatchObject({ reason: { code: 'quota_exceeded' } });
      for (let index = 0; index < MOST_VIEWS.ofTeam; index += 1) await views.create(ada, view(`t${index}`, true));
      await expect(views.create(ada, view('one more', true))).rejects.toMatchObject({ code: 'quota_exceeded' });
      await views.create(await person('viewer'), view('v1'));
    });

    test('of a person go with their membership, those of the team stay', async () => {
      const ada = await person('operator', [teamId, otherTeamId]);
      await views.create(ada, view('own'));
      await views.create(ada, view('shared', true));
      await views.create({ ...ada, teamId: otherTeamId }, view('own'));
      await storage.db.deleteFrom('members').where('team_id', '=', teamId).where('user_id', '=', ada.id).execute();
      expect(await namesOf(ada)).toEqual(['shared']);
      expect(await namesOf({ ...ada, teamId: otherTeamId })).toEqual(['own']);
    });
  });

  describe('preferences', () => {
    test('are those of one person in one team', async () => {
      const [ada, bob] = [await person('viewer', [teamId, otherTeamId]), await person('viewer')];
      expect(await preferences.get(ada)).toEqual({ content: {}, version: 0 });
      await preferences.put(ada, { theme: 'dark', text: 'a\0b\ud800' }, undefined);
      expect(await preferences.get(ada)).toEqual({ content: { theme: 'dark', text: 'a\0b\ud800' }, version: 1 });
      expect(await preferences.get(bob)).toEqual({ content: {}, version: 0 });
      expect(await preferences.get({ ...ada, teamId: otherTeamId })).toEqual({ content: {}, version: 0 });
      await expect(preferences.get(key('admin'))).rejects.toMatchObject({ code: 'forbidden' });
      await expect(preferences.put(key('admin'), {}, undefined)).rejects.toMatchObject({ code: 'forbidden' });
    });

    test('are read and replaced over HTTP by their ETag, and bounded', async () => {
      const ada = await person('viewer');
      const { app } = new TeamApp((scope) => {
        answerUnchanged(scope, () => undefined);
        preferenceRoutes(scope, { preferences });
      });
      const ask = (method: 'GET' | 'PUT', payload?: object, headers: Record<string, string> = {}) => {
        const authorization = `Bearer ${teamId}/viewer/${ada.id}`;
        return app.inject({ method, url: '/api/me/preferences', headers: { authorization, ...headers }, ...(payload ? { payload } : {}) });
      };
      const empty = await ask('GET');
      expect([empty.headers.etag, empty.json()]).toEqual(['"0"', { status: 'success', data: {} }]);
      const first = await ask('PUT', { theme: 'dark' }, { 'if-match': '"0"' });
      expect([first.statusCode, first.headers.etag]).toEqual([200, '"1"']);
      expect((await ask('PUT', {}, { 'if-match': '"0"' })).json()).toMatchObject({ status: 412, code: 'precondition_failed' });
      expect((await ask('GET', undefined, { 'if-none-match': '"1"' })).statusCode).toBe(304);
      expect((await ask('PUT', { theme: 'light' }, { 'if-match': 'W/"1"' })).statusCode).toBe(200);
      expect((await ask('GET', undefined, { 'if-none-match': '"1"' })).json()).toEqual({ status: 'success', data: { theme: 'light' } });
      expect((await ask('PUT', {}, { 'if-match': '*' })).statusCode).toBe(200);
      expect((await ask('PUT', {}, { 'if-match': 'x' })).json()).toMatchObject({
        status: 422,
        errors: { 'if-match': [expect.any(String)] },
      });
      expect((await ask('PUT', { text: 'x'.repeat(17_000) })).json()).toMatchObject({ status: 413, code: 'too_large' });
      expect((await ask('PUT', [])).statusCode).toBe(422);
    });

    test('of two changes of one version one fails, and none is lost', async () => {
      const ada = await person('viewer');
      for (let version = 0; version < 5; version += 1) {
        const both = await Promise.allSettled([
          preferences.put(ada, { a: version }, version),
          preferences.put(ada, { b: version }, version),
        ]);
        expect(both.map(({ status }) => status).toSorted()).toEqual(['fulfilled', 'rejected']);
        expect(both.find(({ status }) => status === 'rejected')).toMatchObject({ reason: { code: 'precondition_failed' } });
      }
      expect((await preferences.get(ada)).version).toBe(5);
      await expect(preferences.put(ada, {}, 9)).rejects.toMatchObject({ code: 'precondition_failed' });
      await expect(preferences.put(ada, {}, 0)).rejects.toMatchObject({ code: 'precondition_failed' });
      expect(await preferences.put(ada, { c: 1 }, undefined)).toEqual({ content: { c: 1 }, version: 6 });
    });
  });
});
