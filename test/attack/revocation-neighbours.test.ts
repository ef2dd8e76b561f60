import { expect, test } from 'vitest';
import { RevocationsService } from '../../server/access/revocations/service.ts';
import type { RevocationsDeps } from '../../server/access/revocations/service.ts';
import type { Storage } from '../../server/platform/storage/db.ts';
import { newId } from '../../server/platform/core/ids.ts';
import { noteRevocation } from '../../server/platform/storage/revocations.ts';
import { describeEachDatabase } from '../harness/databases.ts';
import { ManualClock } from '../harness/manual-clock.ts';
import { seedTeam } from '../harness/seed.ts';
import { silentLog } from '../harness/silent-log.ts';
import { waitUntil } from '../harness/wait-until.ts';

/** A hostile team has an agent that never answers when jobs are asked back: each batch of its jobs then takes seconds, as long as it likes. */
describeEachDatabase('a team whose revocations take for ever', (open) => {
  const setUp = async () => {
    const storage = await open();
    const clock = new ManualClock();
    const hostile = (await seedTeam(storage)).teamId;
    const neighbour = (await seedTeam(storage)).teamId;
    const cut: string[] = [];
    const { promise: never, resolve: atLast } = Promise.withResolvers<void>();
    const deps = {
      storage, clock, log: silentLog,
      gateway: { disconnect: (agentId: string) => void cut.push(agentId) },
      forwards: { dropAgent: async (teamId: string) => (teamId === hostile ? never : undefined) },
    } as unknown as RevocationsDeps;
    return { storage, clock, hostile, neighbour, cut, atLast, service: new RevocationsService(deps) };
  };
  const revokeAgent = async ({ writes }: Storage, teamId: string, now: number): Promise<string> => {
    const subjectId = newId(now);
    await writes.write((tx) => noteRevocation(tx, { teamId, kind: 'agent', subjectId, now }));
    return subjectId;
  };

  test('delays nobody else: neither what is revoked over the API nor what a command revokes', async () => {
    const { storage, clock, hostile, neighbour, cut, atLast, service } = await setUp();
    const first = await revokeAgent(storage, hostile, clock.now());
    // More of them than one look takes, all due before the neighbour's.
    for (let i = 0; i < 150; i += 1) await revokeAgent(storage, hostile, clock.now());
    void service.settle(hostile);
    await waitUntil('the hostile team is being served', () => cut.includes(first));
    clock.advance(1);
    const overApi = await revokeAgent(storage, neighbour, clock.now());
    await service.settle(neighbour);
    expect(cut).toContain(overApi);

    service.start();
    const byCommand = await revokeAgent(storage, neighbour, clock.now());
    clock.advance(1000);
    await waitUntil('the command is carried out', () => cut.includes(byCommand));
    atLast();
    await service.stop();
  });
});
