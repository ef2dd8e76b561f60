import { once } from 'node:events';
import net from 'node:net';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { onceTold } from '../harness/cluster/once-told.ts';
import { databaseKinds } from '../harness/databases.ts';
import type { TestDatabase } from '../harness/databases.ts';
import { scrapeAll } from '../harness/metrics.ts';
import type { Scrape } from '../harness/metrics.ts';
import { waitUntil } from '../harness/wait-until.ts';
import { World } from '../harness/world.ts';
import type { Caller } from '../harness/world.ts';

/** Metrics by team: what they count is what the other answers of the control plane say. */
describe.each(databaseKinds())('metrics by team on $name', (kind) => {
  let database: TestDatabase;
  let world: World;
  let other: Caller;
  let ids: string[];
  let team: string;
  beforeAll(async () => {
    database = await kind.create();
    world = await World.start({ routers: [{}, {}], databaseUrl: database.url });
    ids = await world.routerIds();
    other = await world.addTeam('Other "quoted"');
    team = world.caller.teamId;
  });
  afterAll(async () => {
    await world.close();
    await database.remove();
  });

  const until = async (what: string, isSo: (now: Scrape) => boolean): Promise<Scrape> =>
    waitUntil(what, async () => {
      const now = await scrapeAll(world);
      return isSo(now) ? now : undefined;
    });
  const job = { description: 'x', make_backup: false, express_execute: true, needs_acknowledgement: true };
  const submit = (id: string, script: string, more = {}) =>
    world.caller.call('POST', `/api/asynchronous/${id}`, { ...job, ...more, script });

  test('every team has every series from the beginning, also those that are 0', async () => {
    const now = await scrapeAll(world);
    expect(now.value('signalbox_team_info', { team: other.teamId, name: 'Other \\"quoted\\"' })).toBe(1);
    for (const { teamId } of [world.caller, other]) {
      const at = (name: string, labels = {}): number | undefined => now.value(name, { team: teamId, ...labels });
      expect(at('signalbox_jobs_ended_total', { status: 'unknown' })).toBe(0);
      expect(at('signalbox_forwarded_bytes_total', { direction: 'in' })).toBe(0);
      expect(at('signalbox_agent_sessions_ended_total', { ended_by: 'silence' })).toBe(0);
      expect(at('signalbox_jobs', { phase: 'queued' })).toBe(0);
    }
    expect(now.value('signalbox_agents', { team, state: 'connected' })).toBe(1);
    expect(now.value('signalbox_agents', { team: other.teamId, state: 'connected' })).toBe(0);
  });

  test('routers are counted in the states that the list shows', async () => {
    world.simulators[1]!.faults.refuseConnections = true;
    world.simulators[1]!.faults.resetConnections();
    await until(
      'one router answers and one does not',
      (read) =>
        read.value('signalbox_routers', { team, state: 'not_answering' }) === 1 &&
        read.value('signalbox_routers', { team, state: 'answering' }) === 1,
    );
    await onceTold(async () => {
      const { body } = await world.caller.call<{ data: { id: string }[] }>('GET', '/api/routers?state=not_answering');
      expect(body.data.map(({ id }) => id)).toEqual([ids[1]]);
    });
    world.simulators[1]!.faults.refuseConnections = false;
    await until('both answer', (read) => read.value('signalbox_routers', { team, state: 'answering' }) === 2);
  });

  test('each job is counted once, under its result, with the time that its script ran', async () => {
    const before = (await scrapeAll(world)).value('signalbox_job_duration_seconds_count')!;
    await submit(ids[0]!, ':put 1');
    await submit(ids[0]!, ':error "no"');
    const now = await until('both have ended', (read) => read.value('signalbox_jobs_ended_total', { team, status: 'failed' }) === 1);
    expect(now.value('signalbox_jobs_ended_total', { team, status: 'completed' })).toBe(1);
    expect(now.value('signalbox_job_duration_seconds_count')).toBe(before + 2);
    // Without acknowledgement a job completes early and changes again afterwards.
    await submit(ids[0]!, ':put 2', { needs_acknowledgement: false });
    const { body } = await world.caller.call<{ data: { id: string }[] }>('GET', `/api/routers/${ids[0]}/jobs`);
    await until('the third is completed', (read) => read.value('signalbox_jobs_ended_total', { team, status: 'completed' }) === 2);
    await waitUntil('its script has run', async () => {
      const { body: shown } = await world.caller.call<{ data: { phase: string } }>(
        'GET',
        `/api/routers/${ids[0]}/jobs/${body.data[0]!.id}`,
      );
      return shown.data.phase === 'done';
    });
    // A finished job that is deleted keeps its result.
    await world.caller.call('DELETE', `/api/routers/${ids[0]}/jobs/${body.data[0]!.id}`);
    const last = await scrapeAll(world);
    expect(last.value('signalbox_jobs_ended_total', { team, status: 'completed' })).toBe(2);
    expect(last.value('signalbox_jobs_ended_total', { team, status: 'deleted' })).toBe(0);
    expect(last.value('signalbox_job_duration_seconds_count')).toBe(before + 2);
    expect(last.value('signalbox_jobs_ended_total', { team: other.teamId, status: 'completed' })).toBe(0);
  });

  test('bytes through forwards count while they flow and once afterwards', async () => {
    const target = net.createServer((socket) => socket.on('error', () => undefined).pipe(socket)).listen(0, '127.0.0.1');
    await once(target, 'listening');
    const { body } = await world.caller.call<{ id: string; port: number }>('POST', `/api/routers/${ids[0]}/transient-forwarding`, {
      expire_after_minutes: 10,
      dst_address: '127.0.0.1',
      dst_port: (target.address() as net.AddressInfo).port,
      allow_from: '127.0.0.1/32',
    });
    const client = net.connect(body.port, '127.0.0.1').on('error', () => undefined);
    client.write('12345');
    await once(client, 'data');
    const bytes = (read: Scrape): (number | undefined)[] =>
      ['in', 'out'].map((direction) => read.value('signalbox_forwarded_bytes_total', { team, direction }));
    const open = await scrapeAll(world);
    expect(bytes(open)).toEqual([5, 5]);
    expect(open.value('signalbox_forward_open_connections', { team })).toBe(1);
    expect(open.value('signalbox_forwards', { team })).toBe(1);
    client.end();
    const closed = await until('the connection has ended', (read) => read.value('signalbox_forward_open_connections', { team }) === 0);
    expect(bytes(closed)).toEqual([5, 5]);
    expect(closed.value('signalbox_forward_connections_total', { team })).toBe(1);
    expect(closed.value('signalbox_forward_connections_total', { team: other.teamId })).toBe(0);
    await world.caller.call('DELETE', `/api/routers/${ids[0]}/transient-forwarding/${body.id}`);
    target.close();
  });

  test('sessions are counted with how they ended', async () => {
    await world.agent!.close();
    world.agent = undefined;
    const now = await until('the routers are away', (read) => read.value('signalbox_routers', { team, state: 'agent_away' }) === 2);
    expect(now.value('signalbox_agents', { team, state: 'away' })).toBe(1);
    expect(now.value('signalbox_agent_sessions_ended_total', { team, ended_by: 'left' })).toBe(1);
    expect(now.value('signalbox_agent_sessions_opened_total', { team })).toBe(1);
  });

  test('no series names a router, an agent or an address, and each team has a fixed number of them', async () => {
    const { text, series } = await scrapeAll(world);
    const { body } = await world.caller.call<{ data: { id: string }[] }>('GET', '/api/agents');
    for (const id of [...ids, ...body.data.map((agent) => agent.id)]) expect(text).not.toContain(id);
    const ofTeam = series.filter(({ labels }) => labels['team'] === team);
    expect(ofTeam.length).toBe(series.filter(({ labels }) => labels['team'] === other.teamId).length);
    // docs/monitoring.md names this number.
    expect(ofTeam.length).toBe(36);
  });
});
