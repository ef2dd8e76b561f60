import { beforeEach, expect, it } from 'vitest';
import { newId } from '../../server/platform/core/ids.ts';
import {
  deleteConnectionsBeyond,
  deleteConnectionsUntil,
  insertConnections,
  selectConnections,
  closeInterruptedConnections,
  writeOpenConnections,
} from '../../server/work/forwards/connections/store.ts';
import type { LoggedConnection } from '../../server/work/forwards/connections/store.ts';
import {
  addCounts,
  closeForward,
  countOpenForwards,
  insertForward,
  isUnique,
  markAuthorized,
  markNoWay,
  selectEndedEarly,
  selectForward,
  selectForwardKeys,
  selectForwards,
  selectOpenForwards,
  selectPortUses,
  updateChannelToken,
  updatePort,
} from '../../server/work/forwards/store.ts';
import type { ForwardCounts } from '../../server/work/forwards/store.ts';
import type { ForwardRecord } from '../../server/work/forwards/types.ts';
import type { Storage } from '../../server/platform/storage/db.ts';
import { describeEachDatabase } from '../harness/databases.ts';
import { seedRouter } from '../harness/seed.ts';
import type { SeededRouter } from '../harness/seed.ts';

const page = { limit: 10, before: undefined };
const counts = (refused: number): ForwardCounts => ({ refused, connections: 0, bytesIn: 0, bytesOut: 0 });

describeEachDatabase('the store of forwards', (open) => {
  let storage: Storage;
  let mine: SeededRouter;
  let theirs: SeededRouter;

  beforeEach(async () => {
    storage = await open();
    mine = await seedRouter(storage);
    theirs = await seedRouter(storage);
  });

  function insert(change: { port?: number; createdAt?: number; router?: SeededRouter } = {}): Promise<ForwardRecord> {
    const { teamId, routerId } = change.router ?? mine;
    const createdAt = change.createdAt ?? 1000;
    return storage.writes.write((tx) =>
      insertForward(tx, {
        id: newId(createdAt),
        team_id: teamId,
        router_id: routerId,
        port: change.port ?? 20_000,
        allow_only_cidr: '203.0.113.0/24',
        dst_address: '192.168.88.10',
        dst_port: 443,
        entry_point: 'forward.example.net',
        channel_token_hash: 'hash',
        way: null,
        way_reason: null,
        target_reachable: null,
        created_by: 'key',
        created_at: createdAt,
        authorized_at: null,
        expires_at: createdAt + 600_000,
        closed_at: null,
        revoked_at: null,
        refused_attempts: 0,
      }),
    );
  }

  const keyOf = (record: ForwardRecord): { teamId: string; id: string } => ({ teamId: record.team_id, id: record.id });
  const reload = (record: ForwardRecord): Promise<ForwardRecord | undefined> => selectForward(storage.db, keyOf(record), record.router_id);

  it('keeps a forward for its team and router only', async () => {
    const record = await insert();
    expect(await reload(record)).toEqual(record);
    expect(await selectForward(storage.db, { teamId: theirs.teamId, id: record.id }, mine.routerId)).toBeUndefined();
    expect(await selectForward(storage.db, keyOf(record), theirs.routerId)).toBeUndefined();
    expect(await selectForwards(storage.db, theirs.teamId, mine.routerId, page)).toEqual([]);
  });

  it('gives a port to one open forward at a time, whatever the team', async () => {
    const first = await insert({ port: 20_001 });
    await expect(insert({ port: 20_001, router: theirs })).rejects.toSatisfy(isUnique);
    await storage.writes.write((tx) => closeForward(tx, keyOf(first), 2000, 'revoked'));
    await insert({ port: 20_001, router: theirs });
  });

  it('moves a forward to another port unless that is taken', async () => {
    const first = await insert({ port: 20_001 });
    await insert({ port: 20_002 });
    await storage.writes.write((tx) => updatePort(tx, keyOf(first), 20_003));
    expect((await reload(first))?.port).toBe(20_003);
    await expect(storage.writes.write((tx) => updatePort(tx, keyOf(first), 20_002))).rejects.toSatisfy(isUnique);
  });

  it('tells which ports are open or were until lately', async () => {
    await insert({ port: 20_001 });
    const lately = await insert({ port: 20_002 });
    const longAgo = await insert({ port: 20_003 });
    await storage.writes.write(async (tx) => {
      await closeForward(tx, keyOf(lately), 5000, 'expired');
      await closeForward(tx, keyOf(longAgo), 3000, 'expired');
    });
    const uses = await selectPortUses(storage.db, 4000);
    expect(uses.sort((a, b) => a.port - b.port)).toEqual([
      { port: 20_001, teamId: mine.teamId, closedAt: null, nodeId: null },
      { port: 20_002, teamId: mine.teamId, closedAt: 5000, nodeId: null },
    ]);
  });

  it('keeps the first moment of authorisation, and the newest way', async () => {
    const record = await insert();
    const found = { way: 'ssh', wayReason: 'because', targetReachable: true, authorizedAt: 2000 };
    expect(await storage.writes.write((tx) => markAuthorized(tx, keyOf(record), found))).toMatchObject({
      way: 'ssh',
      target_reachable: 1,
      authorized_at: 2000,
    });
    const again = { way: 'direct', wayReason: 'a\0b', targetReachable: null, authorizedAt: 3000 };
    expect(await storage.writes.write((tx) => markAuthorized(tx, keyOf(record), again))).toMatchObject({
      way: 'direct',
      way_reason: 'a\uFFFDb',
      target_reachable: null,
      authorized_at: 2000,
    });
    expect(await storage.writes.write((tx) => markNoWay(tx, keyOf(record), 'gone'))).toMatchObject({ way: null, way_reason: 'gone' });
  });

  it('closes once, and a closed one is no longer authorised', async () => {
    const record = await insert();
    expect(await storage.writes.write((tx) => closeForward(tx, keyOf(record), 2000, 'revoked'))).toMatchObject({
      closed_at: 2000,
      revoked_at: 2000,
    });
    expect(await storage.writes.write((tx) => closeForward(tx, keyOf(record), 3000, 'expired'))).toBeUndefined();
    const found = { way: 'ssh', wayReason: '', targetReachable: null, authorizedAt: 4000 };
    expect(await storage.writes.write((tx) => markAuthorized(tx, keyOf(record), found))).toBeUndefined();
    expect((await reload(record))?.closed_at).toBe(2000);
  });

  it('does nothing to the forward of another team', async () => {
    const record = await insert();
    const wrong = { teamId: theirs.teamId, id: record.id };
    await storage.writes.write(async (tx) => {
      await closeForward(tx, wrong, 2000, 'revoked');
      await markNoWay(tx, wrong, 'x');
      await updatePort(tx, wrong, 1);
      await updateChannelToken(tx, wrong, 'x');
      await addCounts(tx, wrong, counts(5));
    });
    expect(await reload(record)).toEqual(record);
  });

  it('counts open forwards of a team, and lists all that are open', async () => {
    const closed = await insert({ port: 1 });
    const open = await insert({ port: 2 });
    const other = await insert({ port: 3, router: theirs });
    await storage.writes.write((tx) => closeForward(tx, keyOf(closed), 2000, 'expired'));
    expect(await countOpenForwards(storage.db, mine.teamId, mine.routerId)).toEqual({ ofTeam: 1, ofRouter: 1 });
    expect(await countOpenForwards(storage.db, mine.teamId, theirs.routerId)).toEqual({ ofTeam: 1, ofRouter: 0 });
    expect((await selectOpenForwards(storage.db)).map(({ id }) => id).sort()).toEqual([open.id, other.id].sort());
  });

  it('lists newest first, page by page', async () => {
    const records = [];
    for (const createdAt of [1000, 2000, 2000, 3000]) records.push(await insert({ createdAt, port: 30_000 + records.length }));
    const first = await selectForwards(storage.db, mine.teamId, mine.routerId, { limit: 2, before: undefined });
    const last = first.at(-1)!;
    const second = await selectForwards(storage.db, mine.teamId, mine.routerId, { limit: 2, before: { at: last.created_at, id: last.id } });
    expect([...first, ...second].map(({ created_at: at }) => at)).toEqual([3000, 2000, 2000, 1000]);
    expect(new Set([...first, ...second].map(({ id }) => id)).size).toBe(4);
  });

  it('adds up what happened and keeps connections', async () => {
    const record = await insert();
    const connections: LoggedConnection[] = Array.from({ length: 700 }, (_unused, index) => ({
      id: newId(1000 + index),
      teamId: record.team_id,
      forwardId: record.id,
      source: `203.0.113.7:${index}`,
      openedAt: 1000 + index,
      closedAt: 2000 + index,
      bytesIn: 5_000_000_000,
      bytesOut: index,
      endedBy: 'closed',
    }));
    await storage.writes.write(async (tx) => {
      await addCounts(tx, keyOf(record), counts(2));
      await addCounts(tx, keyOf(record), { refused: 3, connections: 4, bytesIn: 5_000_000_000, bytesOut: 6 });
      await insertConnections(tx, connections);
      await insertConnections(tx, []);
    });
    expect(await reload(record)).toMatchObject({ refused_attempts: 5, connection_count: 4, bytes_in: 5_000_000_000, bytes_out: 6 });
    const [newest] = await selectConnections(storage.db, keyOf(record), { limit: 1, before: undefined });
    expect(newest).toMatchObject({ source: '203.0.113.7:699', bytes_in: 5_000_000_000, bytes_out: 699, ended_by: 'closed' });
    expect(await selectConnections(storage.db, { teamId: theirs.teamId, id: record.id }, page)).toEqual([]);
  });

  function connection(record: ForwardRecord, openedAt: number): LoggedConnection {
    return {
      id: newId(openedAt),
      teamId: record.team_id,
      forwardId: record.id,
      source: 's',
      openedAt,
      closedAt: openedAt + 5,
      bytesIn: 0,
      bytesOut: 0,
      endedBy: 'closed',
    };
  }

  it('tells of connections that were open when a control plane was killed, but not of those that are open', async () => {
    const record = await insert();
    const { teamId, id } = keyOf(record);
    const [finished, lost, before] = [connection(record, 5_000_000), connection(record, 6_000_000), connection(record, 1000)];
    const open = [finished, lost, before].map((each) => ({ ...each, bytesIn: 7, endedBy: 'open' as const }));
    await storage.writes.write((tx) => writeOpenConnections(tx, open));
    await storage.writes.write((tx) =>
      writeOpenConnections(
        tx,
        open.map((each) => ({ ...each, closedAt: each.openedAt + 60_000, bytesIn: 8 })),
      ),
    );
    await storage.writes.write((tx) => insertConnections(tx, [{ ...finished, bytesIn: 9 }]));
    // Comes too late: it is over.
    await storage.writes.write((tx) => writeOpenConnections(tx, open.slice(0, 1)));
    const ends = async (): Promise<unknown[]> =>
      (await selectConnections(storage.db, { teamId, id }, page)).map((each) => [
        each.opened_at,
        each.closed_at,
        each.bytes_in,
        each.ended_by,
      ]);
    expect(await ends()).toEqual([[5_000_000, 5_000_005, 9, 'closed']]);
    await storage.writes.write((tx) => closeInterruptedConnections(tx, 4_000_000));
    expect(await ends()).toEqual([
      [6_000_000, 6_060_000, 8, 'unknown'],
      [5_000_000, 5_000_005, 9, 'closed'],
    ]);
    expect(await reload(record)).toMatchObject({ connection_count: 1, bytes_in: 8 });
  });

  const openedAt = async (record: ForwardRecord): Promise<number[]> =>
    (await selectConnections(storage.db, keyOf(record), page)).map((each) => each.opened_at);

  it('deletes connections of all teams by age, the oldest first, and at most the given number at once', async () => {
    const [ours, others] = [await insert({ port: 1 }), await insert({ port: 2, router: theirs })];
    await storage.writes.write((tx) =>
      insertConnections(
        tx,
        [1000, 2000, 3000, 4000].map((at) => connection(at === 2000 ? others : ours, at)),
      ),
    );
    const forget = (before: number, limit: number): Promise<number> =>
      storage.writes.write((tx) => deleteConnectionsUntil(tx, before, limit));
    expect(await forget(3000, 1)).toBe(1);
    expect([await openedAt(ours), await openedAt(others)]).toEqual([[4000, 3000], [2000]]);
    expect(await forget(3000, 10)).toBe(1);
    expect(await forget(3000, 10)).toBe(0);
    expect([await openedAt(ours), await openedAt(others)]).toEqual([[4000, 3000], []]);
  });

  it('forgets connections of one forward beyond the newest so many, and of no other', async () => {
    const [crowded, other] = [await insert({ port: 1 }), await insert({ port: 2 })];
    await storage.writes.write((tx) =>
      insertConnections(tx, [...[1000, 2000, 2000, 3000, 4000].map((at) => connection(crowded, at)), connection(other, 1)]),
    );
    const forget = (limit: number, key = keyOf(crowded)): Promise<number> =>
      storage.writes.write((tx) => deleteConnectionsBeyond(tx, key, 2, limit));
    expect(await forget(10, { ...keyOf(crowded), teamId: theirs.teamId })).toBe(0);
    expect(await forget(2)).toBe(2);
    expect(await forget(2)).toBe(1);
    expect(await forget(2)).toBe(0);
    expect([await openedAt(crowded), await openedAt(other)]).toEqual([[4000, 3000], [1]]);
  });

  it('goes through all forwards in the order of their ids', async () => {
    const ids = [];
    for (let port = 1; port <= 5; port += 1)
      ids.push((await insert({ port, createdAt: port, ...(port % 2 ? {} : { router: theirs }) })).id);
    const first = await selectForwardKeys(storage.db, '', 3);
    const second = await selectForwardKeys(storage.db, first.at(-1)!.id, 3);
    expect([...first, ...second].map(({ id }) => id)).toEqual(ids);
    expect(first[1]).toEqual({ id: ids[1], teamId: theirs.teamId, connectionCount: 0 });
  });

  it('tells an agent of forwards that ended before their time, the last ended first', async () => {
    const [early, late, onTime, still] = [
      await insert({ port: 1 }),
      await insert({ port: 2 }),
      await insert({ port: 3 }),
      await insert({ port: 4 }),
    ];
    await storage.writes.write(async (tx) => {
      await closeForward(tx, keyOf(early), 2000, 'revoked');
      await closeForward(tx, keyOf(late), 3000, 'revoked');
      await closeForward(tx, keyOf(onTime), onTime.expires_at, 'expired');
    });
    const ended = async (now: number, limit = 10): Promise<string[]> =>
      (await selectEndedEarly(storage.db, [mine.agentId], now, limit)).map(({ id }) => id);
    expect(await ended(4000, 2)).toEqual([onTime.id, late.id]);
    expect(await ended(4000)).toEqual([onTime.id, late.id, early.id]);
    expect(await ended(still.expires_at)).toEqual([]);
    expect(await selectEndedEarly(storage.db, [theirs.agentId], 4000, 10)).toEqual([]);
  });
});
