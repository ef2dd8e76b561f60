import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import type { RunningServer } from '../../server/compose/start.ts';
import { nodeCommands } from '../../server/cli/node-commands.ts';
import type { Administration } from '../../server/cli/command.ts';
import { Input } from '../../server/cli/command.ts';
import { postgres } from '../harness/cluster/cluster-world.ts';
import { startMembers } from '../harness/cluster/members.ts';
import { addUser, signIn } from '../harness/identity/sign-in.ts';
import { hasNats } from '../harness/nats-server.ts';
import { waitUntil } from '../harness/wait-until.ts';

interface Listed {
  id: string;
  name: string;
  state: string;
  answers: boolean;
  public_url: string | null;
  beat_age_seconds: number | null;
  tunnels: number;
  clients: number;
}

interface AuditEntry {
  action: string;
  target: string;
  result: number;
}

describe.skipIf(!postgres || !hasNats())('the list of control planes', () => {
  let closers: (() => Promise<void>)[];

  beforeEach(() => {
    closers = [];
  });
  afterEach(async () => {
    for (const close of closers.toReversed()) await close();
  });

  async function ask(
    server: RunningServer,
    token: string,
    path = '',
    method = 'GET',
    list = '/internal/nodes',
  ): Promise<{ status: number; data: unknown; code?: string }> {
    const answer = await fetch(`${server.url}${list}${path}`, { method, headers: { authorization: `Bearer ${token}` } });
    const { data, code } = (await answer.json()) as { data: unknown; code?: string };
    return { status: answer.status, data, ...(code === undefined ? {} : { code }) };
  }

  test('names each of them at each of them, drains one, and never the last', async () => {
    const { nodes } = await startMembers(closers, { members: 2, routers: [] });
    const { services } = nodes[0]!;
    const { token } = await services.credentials.createServiceToken('operator');
    const ids = nodes.map((node) => node.services.cluster!.nodeId);
    const urls = new Map(nodes.map(({ services: { cluster, config } }) => [cluster!.nodeId, config.cluster!.nodeUrl]));
    for (const [index, node] of nodes.entries()) {
      await waitUntil('it has seen the beats of both', async () => {
        const listed = (await ask(node, token)).data as Listed[];
        return listed.length === 2 && listed.every(({ beat_age_seconds: age }) => age !== null && age < 10);
      });
      const listed = (await ask(node, token)).data as Listed[];
      expect(listed.map(({ id }) => id).sort()).toEqual([...ids].sort());
      expect(listed.filter(({ answers }) => answers).map(({ id }) => id)).toEqual([ids[index]]);
      expect(listed.every(({ state }) => state === 'up')).toBe(true);
      expect(new Map(listed.map(({ id, public_url: url }) => [id, url]))).toEqual(urls);
    }
    expect(await ask(nodes[0]!, token, `/${ids[1]}/drain`, 'POST')).toMatchObject({ status: 200, data: { id: ids[1], state: 'draining' } });
    expect(await ask(nodes[1]!, token, `/${ids[0]}/drain`, 'POST')).toMatchObject({ status: 409, code: 'conflict' });
    const states = ((await ask(nodes[0]!, token)).data as Listed[]).map(({ id, state }) => [id, state]);
    expect(new Map(states as [string, string][])).toEqual(
      new Map([
        [ids[0], 'up'],
        [ids[1], 'draining'],
      ] as [string, string][]),
    );
    expect(await ask(nodes[0]!, token, `/${ids[1]}/drain`, 'DELETE')).toMatchObject({ status: 200, data: { state: 'up' } });
    expect(await ask(nodes[0]!, token, '/01J00000000000000000000000/drain', 'POST')).toMatchObject({ status: 404 });
    const metrics = await (await fetch(`${nodes[1]!.url}/internal/metrics`, { headers: { authorization: `Bearer ${token}` } })).text();
    expect(metrics).toContain(`signalbox_node_info{node="${ids[1]}"`);
    expect(metrics).toContain('signalbox_nodes 2');
    expect(metrics).toContain('signalbox_node_counted 1');
    const { storage } = services;
    const run = async (name: string, positionals: [string, string][] = []) =>
      nodeCommands.find((command) => command.name === name)!.run({ storage } as Administration, new Input(new Map(positionals), new Map()));
    await storage.db
      .insertInto('nodes')
      .values({ id: 'zzz', name: 'killed', version: '1', process: null, public_url: 'http://127.0.0.1:1', beat: 0, started_at: 0 })
      .execute();
    const { lines, json } = await run('nodes');
    expect(lines[0]).toMatch(/^ID +STATE +AGENTS/);
    expect(json['nodes']).toEqual(
      expect.arrayContaining([expect.objectContaining({ id: ids[0], beats: true }), expect.objectContaining({ id: 'zzz', beats: false })]),
    );
    expect(lines.find((line) => line.startsWith('zzz'))).toContain('silent');
    await run('node drain', [['ID', ids[0]!]]);
    expect(((await ask(nodes[1]!, token)).data as Listed[]).find(({ id }) => id === ids[0])).toMatchObject({ state: 'draining' });
    await run('node resume', [['ID', ids[0]!]]);
    await expect(run('node drain', [['ID', 'unknown']])).rejects.toMatchObject({ code: 'not_found' });
  });

  test('is the same for an administrator of the installation, who drains one and has it resume, both in the audit log of their team', async () => {
    const { world, nodes } = await startMembers(closers, { members: 2, routers: [] });
    const { credentials, teams, cluster } = nodes[0]!.services;
    const { token: service } = await credentials.createServiceToken('operator');
    const userId = await addUser(world, 'installer@example.org', 'viewer');
    await teams.setInstallationAdmin('installer@example.org', true);
    const { access_token: token } = await signIn(world, 'installer@example.org');
    const asPerson = (path = '', method = 'GET') => ask(nodes[0]!, token, path, method, '/api/nodes');
    const [own, other] = [cluster!.nodeId, nodes[1]!.services.cluster!.nodeId];
    const lasting = async (list: Promise<{ data: unknown }>) =>
      ((await list).data as Listed[]).map(({ id, name, state, answers, public_url: url }) => ({ id, name, state, answers, url }));
    expect(await lasting(asPerson())).toEqual(await lasting(ask(nodes[0]!, service)));
    expect(await asPerson(`/${other}/drain`, 'POST')).toMatchObject({ status: 200, data: { id: other, state: 'draining' } });
    await waitUntil('it obeys', () => nodes[1]!.services.cluster!.isDraining());
    expect(await asPerson(`/${own}/drain`, 'POST')).toMatchObject({ status: 409, code: 'conflict' });
    expect(await asPerson(`/${other}/drain`, 'DELETE')).toMatchObject({ status: 200, data: { id: other, state: 'up' } });
    await waitUntil('it takes work again', () => !nodes[1]!.services.cluster!.isDraining());
    const entries = await waitUntil('the audit log has them', async () => {
      const { body } = await world.caller.call<{ data: AuditEntry[] }>('GET', `/api/audit?actor=${userId}`);
      const written = body.data.filter(({ action }) => action.endsWith('/api/nodes/:node_id/drain'));
      return written.length === 3 ? written : undefined;
    });
    expect(entries.map(({ action, target, result }) => [action.split(' ')[0], target, result])).toEqual([
      ['DELETE', `/api/nodes/${other}/drain`, 200],
      ['POST', `/api/nodes/${own}/drain`, 409],
      ['POST', `/api/nodes/${other}/drain`, 200],
    ]);
  });

  test('says how many agents and clients each has', async () => {
    const { world, nodes } = await startMembers(closers, { members: 2 });
    const { token } = await nodes[0]!.services.credentials.createServiceToken('operator');
    const loadOf = async (node: RunningServer): Promise<{ tunnels: number; clients: number }> => {
      const listed = (await ask(nodes[1]!, token)).data as Listed[];
      const { tunnels, clients } = listed.find(({ id }) => id === node.services.cluster!.nodeId)!;
      return { tunnels, clients };
    };
    const stop = new AbortController();
    const headers = { authorization: `Bearer ${world.caller.apiKey}` };
    expect((await fetch(`${nodes[1]!.url}/api/events`, { headers, signal: stop.signal })).status).toBe(200);
    await waitUntil('the beats tell of the agent and of the event stream', async () => {
      const loads = [await loadOf(nodes[0]!), await loadOf(nodes[1]!)];
      return loads[0]!.tunnels === 1 && loads[0]!.clients === 0 && loads[1]!.tunnels === 0 && loads[1]!.clients === 1;
    });
    stop.abort();
    await waitUntil('the stream is gone', async () => (await loadOf(nodes[1]!)).clients === 0);
  });
});
