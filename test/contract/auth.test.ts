import { beforeEach, expect, test } from 'vitest';
import { newId } from '../../server/platform/core/ids.ts';
import { AgentsService } from '../../server/fleet/agents/service.ts';
import { CredentialsService } from '../../server/access/credentials/service.ts';
import type { Storage } from '../../server/platform/storage/db.ts';
import { countStatements } from '../harness/count-statements.ts';
import { describeEachDatabase } from '../harness/databases.ts';
import { ManualClock } from '../harness/manual-clock.ts';
import { seedTeam } from '../harness/seed.ts';
import { silentLog } from '../harness/silent-log.ts';

const HOUR_MS = 3_600_000;
const UUID = '[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}';

describeEachDatabase('credentials', (open) => {
  let storage: Storage;
  let clock: ManualClock;
  let auth: CredentialsService;
  let north: string;
  let south: string;

  beforeEach(async () => {
    storage = await open();
    clock = new ManualClock();
    auth = new CredentialsService({ storage, clock, log: silentLog });
    north = (await seedTeam(storage)).teamId;
    south = (await seedTeam(storage)).teamId;
  });

  function createKey(teamId = north) {
    return auth.createApiKey({ teamId, name: 'billing', createdBy: null });
  }

  test('an API key has the form <token_id>:<team_id>:<62 characters> and identifies its team', async () => {
    const { key, apiKey } = await createKey();
    expect(apiKey).toMatch(new RegExp(`^${UUID}:${UUID}:[A-Za-z0-9]{62}$`));
    expect(await auth.authenticateApiKey(apiKey)).toEqual({ kind: 'api_key', id: key.id, teamId: north, role: 'admin' });
  });

  test('a team has a thousand keys that work, also when the last are made at the same time', async () => {
    const { key } = await createKey();
    const row = await storage.db.selectFrom('api_keys').selectAll().where('id', '=', key.id).executeTakeFirstOrThrow();
    const others = Array.from({ length: 997 }, (_, i) => ({ ...row, id: newId(clock.now()), name: `key ${i}`, secret_hash: `${i}` }));
    for (let i = 0; i < others.length; i += 100)
      await storage.db
        .insertInto('api_keys')
        .values(others.slice(i, i + 100))
        .execute();
    const made = await Promise.allSettled(Array.from({ length: 8 }, () => createKey()));
    expect(made.filter(({ status }) => status === 'fulfilled')).toHaveLength(2);
    expect(made.find(({ status }) => status === 'rejected')).toMatchObject({ reason: { code: 'quota_exceeded' } });
    await createKey(south);
  });

  test('keys that come together are read by one statement, and each is checked by itself', async () => {
    const [mine, other] = [await createKey(), await createKey(south)];
    const revoked = await createKey();
    await auth.revokeApiKey(north, revoked.key.id);
    const [id, , secret] = mine.apiKey.split(':');
    const bearers = [mine.apiKey, other.apiKey, revoked.apiKey, `${id}:${south}:${secret}`, `${id}:${north}:${'A'.repeat(62)}`];
    const found: (string | undefined)[] = [];
    const statements = await countStatements(async () => {
      const principals = await Promise.all([...bearers, ...bearers, ...bearers].map((bearer) => auth.authenticateApiKey(bearer)));
      found.push(...principals.map((principal) => principal?.teamId));
    });
    const expected = [north, south, undefined, undefined, undefined];
    expect(found).toEqual([...expected, ...expected, ...expected]);
    expect(statements).toBe(1);
  });

  test('the secret is not stored', async () => {
    const { apiKey } = await createKey();
    const rows = JSON.stringify(await storage.db.selectFrom('api_keys').selectAll().execute());
    expect(rows).not.toContain(apiKey.split(':')[2]);
  });

  test('whatever is wrong with a key, the answer is the same', async () => {
    const { key, apiKey } = await createKey();
    const other = await createKey(south);
    const [tokenId, teamId, secret] = apiKey.split(':') as [string, string, string];
    const wrong = [
      '',
      'abc',
      `${tokenId}:${teamId}`,
      `${apiKey}:`,
      `${apiKey}x`,
      `${tokenId}:${teamId}:${'A'.repeat(62)}`,
      `${tokenId}:${south}:${secret}`,
      `${other.key.id}:${teamId}:${secret}`,
      `${teamId}:${tokenId}:${secret}`,
      `${tokenId.toUpperCase()}:${teamId}:${secret}`,
      `${tokenId}:${teamId}:${secret.slice(0, 61)}\0`,
    ];
    for (const bearer of wrong) expect(await auth.authenticateApiKey(bearer)).toBeUndefined();
    await auth.revokeApiKey(north, key.id);
    expect(await auth.authenticateApiKey(apiKey)).toBeUndefined();
    expect(await auth.authenticateApiKey(other.apiKey)).toBeDefined();
  });

  test('a key expires, and may be narrowed to a role', async () => {
    const { apiKey } = await auth.createApiKey({
      teamId: north,
      name: 'n',
      role: 'viewer',
      createdBy: null,
      expiresAt: clock.now() + HOUR_MS,
    });
    clock.advance(HOUR_MS - 1);
    expect(await auth.authenticateApiKey(apiKey)).toMatchObject({ role: 'viewer' });
    clock.advance(1);
    expect(await auth.authenticateApiKey(apiKey)).toBeUndefined();
    const late = auth.createApiKey({ teamId: north, name: 'n', createdBy: null, expiresAt: clock.now() });
    await expect(late).rejects.toMatchObject({ code: 'invalid' });
  });

  test('another team neither sees nor revokes a key', async () => {
    const { key, apiKey } = await createKey();
    await expect(auth.revokeApiKey(south, key.id)).rejects.toMatchObject({ code: 'not_found' });
    expect(await auth.authenticateApiKey(apiKey)).toBeDefined();
    expect(await auth.listApiKeys(south)).toEqual([]);
    expect((await auth.listApiKeys(north)).map((it) => it.id)).toEqual([key.id]);
    expect(await auth.findTeamOfApiKey(key.id)).toBe(north);
  });

  test('last use is written in batches, and at the latest when the service stops', async () => {
    const keys = await Promise.all(Array.from({ length: 3 }, () => createKey()));
    const usedAt = clock.now() + 10;
    clock.advance(10);
    for (const { apiKey } of keys) await auth.authenticateApiKey(apiKey);
    expect((await auth.listApiKeys(north)).map((key) => key.lastUsedAt)).toEqual([null, null, null]);
    clock.advance(5000);
    await expect.poll(async () => (await auth.listApiKeys(north)).map((key) => key.lastUsedAt)).toEqual([usedAt, usedAt, usedAt]);
    await auth.authenticateApiKey(keys[0]!.apiKey);
    await auth.stop();
    const moments = (await auth.listApiKeys(north)).map((key) => [key.id, key.lastUsedAt]);
    expect(moments).toContainEqual([keys[0]!.key.id, usedAt + 5000]);
    expect(moments).toContainEqual([keys[1]!.key.id, usedAt]);
    expect(clock.pending).toBe(0);
  });

  test('a service token is none of the other credentials, and they are not service tokens', async () => {
    const { record, token } = await auth.createServiceToken('billing');
    expect(token).toMatch(/^sbx_svc_[A-Za-z0-9]{62}$/);
    expect(await auth.authenticateService(token)).toEqual(record);
    const { apiKey } = await createKey();
    expect(await auth.authenticateService(apiKey)).toBeUndefined();
    expect(await auth.authenticateApiKey(token)).toBeUndefined();
    expect(await auth.authenticateAgent(token)).toBeUndefined();
    await auth.revokeServiceToken(record.id);
    expect(await auth.authenticateService(token)).toBeUndefined();
  });

  test('a token enrols one agent, whose secret opens the tunnel of its team', async () => {
    const { record, token } = await auth.createEnrolToken({ teamId: north, siteId: null });
    const { agent_id, secret } = await auth.enrolAgent(token, 'gw-1');
    expect(await auth.authenticateAgent(`${agent_id}:${secret}`)).toMatchObject({ agentId: agent_id, teamId: north });
    expect(await auth.authenticateAgent(`${agent_id}:${'A'.repeat(62)}`)).toBeUndefined();
    expect(await auth.listEnrolTokens(north)).toMatchObject([{ id: record.id, agentId: agent_id, usedAt: clock.now() }]);
    expect(await new AgentsService(storage).list(north)).toMatchObject([{ id: agent_id, name: 'gw-1', connectedAt: null }]);
    expect(await new AgentsService(storage).list(south)).toEqual([]);
  });

  test('of many that use one token at once exactly one is enrolled', async () => {
    const { token } = await auth.createEnrolToken({ teamId: north, siteId: null });
    const results = await Promise.allSettled(Array.from({ length: 8 }, (_, index) => auth.enrolAgent(token, `gw-${index}`)));
    expect(results.filter((it) => it.status === 'fulfilled')).toHaveLength(1);
    for (const result of results) if (result.status === 'rejected') expect(result.reason).toMatchObject({ code: 'unauthenticated' });
    expect(await new AgentsService(storage).list(north)).toHaveLength(1);
  });

  test('a used, expired or invented token is refused', async () => {
    const { token } = await auth.createEnrolToken({ teamId: north, siteId: null });
    clock.advance(24 * HOUR_MS);
    for (const bad of [token, `sbx_enr_${'A'.repeat(62)}`, 'sbx_enr_', '']) {
      await expect(auth.enrolAgent(bad, 'gw')).rejects.toMatchObject({ code: 'unauthenticated' });
    }
  });

  test('the holder of a token learns what became of it; others do not learn that it exists', async () => {
    const make = async () => auth.createEnrolToken({ teamId: north, siteId: null });
    const [used, expired, revoked] = [await make(), await make(), await make()];
    await auth.enrolAgent(used.token, 'gw');
    await auth.revokeEnrolToken(north, revoked.record.id);
    clock.advance(24 * HOUR_MS);
    const reasons: [string, string][] = [
      [used.token, 'was used on'],
      [expired.token, 'expired on'],
      [revoked.token, 'was revoked on'],
      [`${used.token.slice(0, -1)}${used.token.endsWith('A') ? 'B' : 'A'}`, 'the enrolment token is unknown'],
      ['sbx_enr_', 'the enrolment token is unknown'],
    ];
    for (const [token, reason] of reasons) {
      await expect(auth.enrolAgent(token, 'gw'), reason).rejects.toMatchObject({
        code: 'unauthenticated',
        message: expect.stringContaining(reason),
      });
    }
  });

  test('a token may name a site of its own team, and the agent gets that site', async () => {
    const siteId = '01890a5d-ac96-774b-bcce-b302099a8057';
    await storage.db
      .insertInto('sites')
      .values({ id: siteId, team_id: north, name: 'Depot', time_zone: null, latitude: null, longitude: null, created_at: 1 })
      .execute();
    await expect(auth.createEnrolToken({ teamId: south, siteId })).rejects.toMatchObject({ code: 'invalid' });
    const { token } = await auth.createEnrolToken({ teamId: north, siteId });
    await auth.enrolAgent(token, 'gw');
    expect(await new AgentsService(storage).list(north)).toMatchObject([{ siteId }]);
  });

  test('a revoked agent is refused and its tunnel cut; another team cannot do that', async () => {
    const cut: string[] = [];
    const gateway = { disconnect: (agentId: string) => void cut.push(agentId) };
    const { token } = await auth.createEnrolToken({ teamId: north, siteId: null });
    const { agent_id, secret } = await auth.enrolAgent(token, 'gw');
    await expect(auth.revokeAgent(south, agent_id, gateway)).rejects.toMatchObject({ code: 'not_found' });
    expect(cut).toEqual([]);
    await auth.revokeAgent(north, agent_id, gateway);
    expect(cut).toEqual([agent_id]);
    expect(await auth.authenticateAgent(`${agent_id}:${secret}`)).toBeUndefined();
  });
});
