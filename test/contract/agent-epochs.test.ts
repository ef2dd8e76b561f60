import { expect, test } from 'vitest';
import { randomUUID } from 'node:crypto';
import { AgentEpochs } from '../../server/fleet/agents/epochs.ts';
import type { Storage } from '../../server/platform/storage/db.ts';
import { describeEachDatabase } from '../harness/databases.ts';
import { ManualClock } from '../harness/manual-clock.ts';
import { seedAgent, seedTeam } from '../harness/seed.ts';

describeEachDatabase('agent epochs', (open) => {
  async function setUp() {
    const storage = await open();
    const { teamId } = await seedTeam(storage);
    const agentId = await seedAgent(storage, teamId);
    const clock = new ManualClock(5000);
    return { storage, agentId, clock, epochs: new AgentEpochs(storage, clock) };
  }

  const assign = (epochs: AgentEpochs, agentId: string, journalId: string, lastEpoch: number) =>
    epochs.assign({
      agentId,
      credential: '',
      hello: { type: 'hello', versions: [1], agent_version: '1.2.3\0', journal_id: journalId, last_epoch: lastEpoch, routers: [] },
    });

  const nodeRow = (id: string) => ({
    id,
    name: id,
    version: '1',
    process: null,
    public_url: 'https://node.example',
    beat: 0,
    started_at: 0,
  });

  const row = ({ db }: Storage, agentId: string) => db.selectFrom('agents').selectAll().where('id', '=', agentId).executeTakeFirstOrThrow();

  test('every hello raises the epoch, also when several come at once', async () => {
    const { epochs, agentId } = await setUp();
    const journal = randomUUID();
    const begun = await Promise.all([1, 2, 3, 4, 5].map(() => assign(epochs, agentId, journal, 0)));
    expect(begun.map((start) => start?.epoch ?? 0).sort((a, b) => a - b)).toEqual([1, 2, 3, 4, 5]);
  });

  test('agents that connect together get their own epochs, and one with another credential gets none', async () => {
    const { storage, epochs, agentId, clock } = await setUp();
    const { team_id: teamId } = await row(storage, agentId);
    const agents = [agentId];
    for (let count = 0; count < 4; count += 1) agents.push(await seedAgent(storage, teamId));
    await storage.db.updateTable('agents').set({ secret_hash: 'another' }).where('id', '=', agents[3]!).execute();
    const journals = agents.map(() => randomUUID());
    const begun = await Promise.all(agents.map((id, index) => assign(epochs, id, journals[index]!, index * 10)));
    expect(begun.map((start) => start?.epoch)).toEqual([1, 11, 21, undefined, 41]);
    const confirmed = await Promise.all(agents.map((id, index) => epochs.confirm(id, begun[index]?.epoch ?? 1, journals[index]!)));
    expect(confirmed).toEqual([true, true, true, false, true]);
    clock.advance(1000);
    await Promise.all([epochs.end(agents[1]!, 11), epochs.end(agents[2]!, 20), assign(epochs, agents[4]!, journals[4]!, 41)]);
    const [, ended, otherEpoch, , newer] = await Promise.all(agents.map((id) => row(storage, id)));
    expect(ended).toMatchObject({ journal_id: journals[1], connected_at: 5000, disconnected_at: 6000 });
    expect(otherEpoch).toMatchObject({ journal_id: journals[2], disconnected_at: null });
    expect(newer).toMatchObject({ epoch: 42, confirmed_epoch: 41 });
  });

  test('of several control planes, only one that counts gets an agent, and it is found until its tunnel ends', async () => {
    const { storage, agentId, clock } = await setUp();
    await storage.db.insertInto('nodes').values(nodeRow('one')).execute();
    const [one, killed] = [new AgentEpochs(storage, clock, 0, 'one'), new AgentEpochs(storage, clock, 0, 'killed')];
    const journal = randomUUID();
    expect(await assign(killed, agentId, journal, 0)).toMatchObject({ epoch: 1 });
    expect(await killed.confirm(agentId, 1, journal)).toBe(false);
    expect(await one.holder(agentId)).toBeUndefined();
    expect(await assign(one, agentId, journal, 0)).toMatchObject({ epoch: 2 });
    expect(await one.confirm(agentId, 2, journal)).toBe(true);
    expect(await killed.holder(agentId)).toBe('one');
    await one.end(agentId, 2);
    expect(await killed.holder(agentId)).toBeUndefined();
  });

  test('the tunnels of a control plane that does not count any more are not found', async () => {
    const { storage, agentId, clock } = await setUp();
    await storage.db.insertInto('nodes').values(nodeRow('one')).execute();
    const one = new AgentEpochs(storage, clock, 0, 'one');
    const journal = randomUUID();
    await assign(one, agentId, journal, 0);
    await one.confirm(agentId, 1, journal);
    await storage.db.deleteFrom('nodes').where('id', '=', 'one').execute();
    expect(await one.holder(agentId)).toBeUndefined();
  });

  test('a restored database gives out no epoch that the agent has seen before', async () => {
    const { epochs, agentId } = await setUp();
    const journal = randomUUID();
    expect(await assign(epochs, agentId, journal, 41)).toMatchObject({ epoch: 42 });
    expect(await assign(epochs, agentId, journal, 41)).toMatchObject({ epoch: 43 });
  });

  test('an agent cannot push the epoch out of the integers', async () => {
    const { epochs, agentId } = await setUp();
    const first = await assign(epochs, agentId, randomUUID(), Number.MAX_SAFE_INTEGER);
    const second = await assign(epochs, agentId, randomUUID(), Number.MAX_SAFE_INTEGER);
    expect(second!.epoch).toBe(first!.epoch + 1);
    expect(Number.isSafeInteger(second!.epoch + 1_000_000)).toBe(true);
  });

  test('only the newest epoch can be confirmed, and only once', async () => {
    const { epochs, agentId } = await setUp();
    const journal = randomUUID();
    await assign(epochs, agentId, journal, 0);
    await assign(epochs, agentId, journal, 0);
    expect(await epochs.confirm(agentId, 1, journal)).toBe(false);
    expect(await epochs.confirm(agentId, 2, journal)).toBe(true);
    expect(await epochs.confirm(agentId, 2, journal)).toBe(false);
  });

  test('a confirmed session is connected until it ends; the end of an older one changes nothing', async () => {
    const { storage, epochs, agentId, clock } = await setUp();
    const journal = randomUUID();
    await assign(epochs, agentId, journal, 0);
    await epochs.confirm(agentId, 1, journal);
    expect(await row(storage, agentId)).toMatchObject({
      connected_at: 5000,
      disconnected_at: null,
      journal_id: journal,
      version: '1.2.3\uFFFD',
    });
    await assign(epochs, agentId, journal, 1);
    clock.advance(10);
    await epochs.confirm(agentId, 2, journal);
    await epochs.end(agentId, 1);
    expect(await row(storage, agentId)).toMatchObject({ connected_at: 5010, disconnected_at: null });
    await epochs.end(agentId, 2);
    expect(await row(storage, agentId)).toMatchObject({ disconnected_at: 5010, confirmed_epoch: 2 });
  });

  test('a session that never became ready leaves no trace but its epoch', async () => {
    const { storage, epochs, agentId } = await setUp();
    await assign(epochs, agentId, randomUUID(), 0);
    await epochs.end(agentId, 1);
    expect(await row(storage, agentId)).toMatchObject({
      epoch: 1,
      confirmed_epoch: 0,
      journal_id: null,
      connected_at: null,
      disconnected_at: null,
    });
  });

  test('an agent with a restored disk or a foreign journal must reset, until its new journal is confirmed', async () => {
    const { epochs, agentId } = await setUp();
    const [first, second] = [randomUUID(), randomUUID()];
    await assign(epochs, agentId, first, 0);
    await epochs.confirm(agentId, 1, first);
    expect(await assign(epochs, agentId, first, 1)).toEqual({ epoch: 2, reset: false });
    expect(await assign(epochs, agentId, first, 0)).toEqual({ epoch: 3, reset: true });
    expect(await assign(epochs, agentId, second, 3)).toEqual({ epoch: 4, reset: true });
    expect(await epochs.confirm(agentId, 4, second)).toBe(true);
    expect(await assign(epochs, agentId, second, 4)).toEqual({ epoch: 5, reset: false });
  });

  test('a revoked agent, and one that never was, get no session', async () => {
    const { storage, epochs, agentId } = await setUp();
    const begun = await assign(epochs, agentId, randomUUID(), 0);
    await storage.db.updateTable('agents').set({ revoked_at: 1 }).where('id', '=', agentId).execute();
    expect(await assign(epochs, agentId, randomUUID(), 0)).toBeUndefined();
    expect(await epochs.confirm(agentId, begun?.epoch ?? 0, randomUUID())).toBe(false);
    expect(await assign(epochs, randomUUID(), randomUUID(), 0)).toBeUndefined();
  });
});
