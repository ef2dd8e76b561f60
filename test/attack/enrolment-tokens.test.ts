import { mkdtemp, rm } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { enrol } from '../../agent/link/enrol.ts';
import { onceTold } from '../harness/cluster/once-told.ts';
import { World } from '../harness/world.ts';

/** An attacker learns nothing about unknown enrolment tokens; the holder of a token learns its state. */

let world: World;
let folder: string;
beforeAll(async () => {
  world = await World.start({ routers: [] });
  folder = await mkdtemp(path.join(os.tmpdir(), 'signalbox-enrol-'));
});
afterAll(async () => {
  await world.close();
  await rm(folder, { recursive: true });
});

let count = 0;
const tryToken = (token: string) =>
  enrol({ server: world.server.url, token, name: 'depot', credentialsFile: path.join(folder, `${(count += 1)}.json`) });

test('the agent reports the state of its token, and the team’s audit log records every attempt', async () => {
  const { credentials: auth } = world.server.services;
  const make = () => auth.createEnrolToken({ teamId: world.caller.teamId, siteId: null });
  const [used, revoked] = [await make(), await make()];
  const { agent_id: agentId } = await tryToken(used.token);
  await auth.revokeEnrolToken(world.caller.teamId, revoked.record.id);
  await expect(tryToken(used.token)).rejects.toMatchObject({ code: 'unauthorized', message: expect.stringContaining('was used') });
  await expect(tryToken(revoked.token)).rejects.toMatchObject({ code: 'unauthorized', message: expect.stringContaining('was revoked') });
  const strange = `sbx_enr_${'x'.repeat(62)}`;
  await expect(tryToken(strange)).rejects.toMatchObject({
    code: 'unauthorized',
    message: expect.stringContaining('the enrolment token is unknown'),
  });
  await onceTold(async () => {
    const { body } = await world.caller.call<{ data: Record<string, unknown>[] }>('GET', '/api/audit');
    const attempts = body.data.filter(({ actor_kind: kind }) => kind === 'enrol_token');
    expect(attempts.map(({ actor_id: id, action, result, detail }) => [id, action, result, detail])).toEqual([
      [revoked.record.id, 'refused enrol', 401, 'the token is revoked'],
      [used.record.id, 'refused enrol', 401, 'the token is used'],
      [used.record.id, 'enrol', 200, `agent ${agentId}`],
    ]);
    for (const { token } of [used, revoked]) expect(JSON.stringify(body)).not.toContain(token);
  });
});
