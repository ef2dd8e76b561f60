import { expect, test } from 'vitest';
import { RevocationsService } from '../../server/access/revocations/service.ts';
import type { RevocationsDeps } from '../../server/access/revocations/service.ts';
import type { Storage } from '../../server/platform/storage/db.ts';
import { newId } from '../../server/platform/core/ids.ts';
import { insertRevocation } from '../../server/platform/storage/revocations.ts';
import { insertForward } from '../../server/work/forwards/store.ts';
import { describeEachDatabase } from '../harness/databases.ts';
import { ManualClock } from '../harness/manual-clock.ts';
import { seedRouter, seedTeam } from '../harness/seed.ts';
import { silentLog } from '../harness/silent-log.ts';
import { waitUntil } from '../harness/wait-until.ts';

/** A hostile team has an agent that never answers when jobs are asked back: each batch of its jobs then takes seconds, as long as it likes. */
describeEachDatabase('a team whose revocations never end', (open) => {
  const setUp = async () => {
    const storage = await open();
    const clock = new ManualClock();
    const hostile = (await seedTeam(storage)).teamId;
    const neighbour = (await seedTeam(storage)).teamId;
    const cut: string[] = [];
    const revoked: string[] = [];
    const forwardsOf: string[] = [];
    const { promise: never, resolve: atLast } = Promise.withResolvers<void>();
    const deps = {
      storage,
      clock,
      log: silentLog,
      gateway: { disconnect: (agentId: string) => void cut.push(agentId) },
      terminals: {
        dropAgent: async (teamId: string) => (teamId === hostile ? never : undefined),
        recheck: async () => undefined,
        endedOf: async () => [],
      },
      forwards: {
        dropAgent: async (teamId: string, agentId: string) => {
          forwardsOf.push(agentId);
          return teamId === hostile ? never : undefined;
        },
        revoke: async (_teamId: string, _routerId: string, id: string) => void revoked.push(id),
      },
    } as unknown as RevocationsDeps;
    const openForward = async (createdBy: string): Promise<string> => {
      const { routerId } = await seedRouter(storage, { teamId: hostile });
      const now = clock.now();
      const id = newId(now);
      await insertForward(storage.db, {
        id,
        team_id: hostile,
        router_id: routerId,
        port: 20_000,
        allow_only_cidr: '203.0.113.0/24',
        dst_address: '192.168.88.10',
        dst_port: 443,
        entry_point: 'forward.example.net',
        channel_token_hash: 'hash',
        way: null,
        way_reason: null,
        target_reachable: null,
        created_by: createdBy,
        created_at: now,
        authorized_at: null,
        expires_at: now + 600_000,
        closed_at: null,
        revoked_at: null,
        refused_attempts: 0,
      });
      return id;
    };
    return { storage, clock, hostile, neighbour, cut, revoked, forwardsOf, openForward, atLast, service: new RevocationsService(deps) };
  };
  const revokeAgent = async ({ writes }: Storage, teamId: string, now: number): Promise<string> => {
    const subjectId = newId(now);
    await writes.write((tx) => insertRevocation(tx, { teamId, kind: 'agent', subjectId, now }));
    return subjectId;
  };

  test('delays no other revocation, by the API or by a command', async () => {
    const { storage, clock, hostile, neighbour, cut, atLast, service } = await setUp();
    const first = await revokeAgent(storage, hostile, clock.now());
    // More of them than one look takes, all due before the neighbour's.
    for (let i = 0; i < 150; i += 1) await revokeAgent(storage, hostile, clock.now());
    void service.enforce(hostile);
    await waitUntil('the hostile team is being served', () => cut.includes(first));
    clock.advance(1);
    const overApi = await revokeAgent(storage, neighbour, clock.now());
    await service.enforce(neighbour);
    expect(cut).toContain(overApi);

    service.start();
    const byCommand = await revokeAgent(storage, neighbour, clock.now());
    clock.advance(1000);
    await waitUntil('the command is carried out', () => cut.includes(byCommand));
    atLast();
    await service.stop();
  });

  test('closes its other connections at once, without waiting for the agents of another revocation', async () => {
    const { storage, clock, hostile, cut, atLast, service, revoked, forwardsOf, openForward } = await setUp();
    const first = await revokeAgent(storage, hostile, clock.now());
    void service.enforce(hostile);
    await waitUntil('the first revocation waits for its agent', () => cut.includes(first));
    const keyId = newId(clock.now());
    const forwardId = await openForward(keyId);
    const published: string[] = [];
    service.revoked.subscribe(({ teamId }) => published.push(teamId));
    const agents: string[] = [];
    for (let i = 0; i < 150; i += 1) agents.push(await revokeAgent(storage, hostile, clock.now()));
    await storage.writes.write((tx) => insertRevocation(tx, { teamId: hostile, kind: 'api_key', subjectId: keyId, now: clock.now() }));
    void service.enforce(hostile);
    await waitUntil('everything is cut', () => revoked.length === 1 && agents.every((id) => cut.includes(id)));
    expect(revoked).toEqual([forwardId]);
    expect(published).toHaveLength(151);
    // Nor do forwards wait until the terminals of their agent are closed.
    expect(forwardsOf.toSorted()).toEqual([first, ...agents].toSorted());
    atLast();
    await service.stop();
    expect(cut.length).toBe(new Set(cut).size);
  });
});
