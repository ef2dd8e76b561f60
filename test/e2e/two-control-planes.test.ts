import { readFile } from 'node:fs/promises';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { ClusterWorld, postgres } from '../harness/cluster/cluster-world.ts';
import { hasNats } from '../harness/nats-server.ts';
import { waitUntil } from '../harness/wait-until.ts';

const IDENTITY = { command: '/system/identity/print' };

describe.skipIf(!postgres || !hasNats())('two control planes on one PostgreSQL', () => {
  let closers: (() => Promise<void>)[];
  let cluster: ClusterWorld;

  beforeEach(async () => {
    closers = [];
    cluster = await ClusterWorld.start(closers);
  });
  afterEach(async () => {
    for (const close of closers.toReversed()) await close();
  });

  test('a command asked at one reaches an agent of the other, also after that one was killed', async () => {
    const answer = await cluster.ask(IDENTITY);
    expect(answer.status).toBe(200);
    expect(answer.body.data).toEqual([{ name: 'router-0' }]);
    expect(cluster.isHere).toBe(false);
    expect(await cluster.nodes()).toHaveLength(2);
    await cluster.other.kill();
    await waitUntil('the agent has come here', () => cluster.isHere);
    expect((await cluster.ask(IDENTITY)).body.data).toEqual([{ name: 'router-0' }]);
    await waitUntil('the killed one does not count any more', async () => (await cluster.nodes()).length === 1);
  });

  test('what the router says arrives the same at both: rows in their order, refusals with their category', async () => {
    const asked = [
      { command: '/interface/print' },
      { command: '/log/print' },
      { command: '/no/such/menu' },
      { command: '/interface/set', parameters: '=.id=*ffff' },
    ];
    for (const command of asked) {
      const [here, there] = [await cluster.ask(command), await cluster.askOther(command)];
      expect(here.status).toBe(there.status);
      const { request_id: _, ...said } = here.body as Record<string, unknown>;
      expect(there.body).toMatchObject(said);
    }
  });

  test('many commands at once get each its own answer', async () => {
    const answers = await Promise.all(Array.from({ length: 50 }, () => cluster.ask(IDENTITY)));
    expect(answers.map(({ status }) => status)).toEqual(answers.map(() => 200));
    const { token } = await cluster.world.server.services.credentials.createServiceToken('prometheus');
    const metrics = await fetch(`${cluster.world.server.url}/internal/metrics`, { headers: { authorization: `Bearer ${token}` } });
    const lines = (await metrics.text()).split('\n').filter((line) => line.startsWith('signalbox_bus_'));
    expect(lines).toContain('signalbox_bus_connected 1');
    expect(lines).toContain('signalbox_bus_asks_total{end="answered"} 50');
    const page = await readFile('docs/monitoring.md', 'utf8');
    expect(lines.filter((line) => !page.includes(`\`${/^\w+/.exec(line)![0]}`))).toEqual([]);
  });

  test('an agent that moves is found again, although where it was is remembered', async () => {
    expect((await cluster.ask(IDENTITY)).status).toBe(200);
    await cluster.restartAgent(cluster.world.server.url);
    await waitUntil('the agent has come here', () => cluster.isHere);
    await waitUntil('the other asks here', async () => (await cluster.askOther(IDENTITY)).status === 200);
    await cluster.restartAgent(cluster.otherUrl);
    await waitUntil('the other has it', async () => !cluster.isHere && (await cluster.askOther(IDENTITY)).status === 200);
    expect((await cluster.ask(IDENTITY)).status).toBe(200);
  });

  test('an agent that is connected nowhere is told of at once', async () => {
    expect((await cluster.ask(IDENTITY)).status).toBe(200);
    await cluster.stopAgent();
    const refused = await waitUntil('refused', async () => {
      const answer = await cluster.ask(IDENTITY);
      return answer.status === 200 ? undefined : answer;
    });
    expect(refused).toMatchObject({ status: 503, body: { code: 'agent_offline' } });
  });

  test('while the bus is away, agents of the other are out of reach at once, and own agents are not', async () => {
    await cluster.nats.kill();
    const refused = await waitUntil('noticed', async () => {
      const answer = await cluster.ask({ ...IDENTITY, timeout_seconds: 60 });
      return answer.body.code === 'unavailable' ? answer : undefined;
    });
    expect(refused.status).toBe(503);
    expect(refused.headers.get('retry-after')).toBe('2');
    expect((await cluster.askOther(IDENTITY)).status).toBe(200);
    await cluster.nats.resume();
    await waitUntil('it works again', async () => (await cluster.ask(IDENTITY)).status === 200);
  });

  test('an agent revoked at one loses its tunnel with the other', async () => {
    expect((await cluster.world.caller.call('DELETE', `/api/agents/${cluster.agentId}`)).status).toBe(204);
    await waitUntil('the other cannot reach it', async () => (await cluster.askOther(IDENTITY)).status === 503);
    expect(cluster.isHere).toBe(false);
  });

  test(
    'one that was frozen does nothing of what it was asked meanwhile, and starts again as another one',
    { timeout: 180_000 },
    async () => {
      expect((await cluster.ask(IDENTITY)).status).toBe(200);
      cluster.other.signal('SIGSTOP');
      const change = { command: '/system/identity/set', parameters: '=name=late' };
      const [late] = await Promise.all([
        cluster.ask({ ...change, timeout_seconds: 120 }),
        waitUntil('it does not count any more', async () => (await cluster.nodes()).length === 1),
      ]);
      // It did not wait for its deadline.
      expect(late).toMatchObject({ status: 504, body: { code: 'outcome_unknown' } });
      expect(await cluster.ask(IDENTITY)).toMatchObject({ status: 503, body: { code: 'agent_offline' } });
      const [own] = await cluster.nodes();
      const { pid } = cluster.other;
      // It waits in the sockets of the frozen one.
      const script = '/system identity set name=late';
      const job = { description: 'late', script, make_backup: false, express_execute: true, needs_acknowledgement: false };
      const asked = cluster.callOther('POST', `/api/asynchronous/${cluster.routerId}`, job);
      cluster.other.signal('SIGCONT');
      const refused = await asked;
      expect(refused).toMatchObject({ status: 503, body: { code: 'unavailable' } });
      const { db } = cluster.world.server.services.storage;
      expect(await db.selectFrom('jobs').select('id').execute()).toEqual([]);
      await waitUntil('it has come back', async () => (await cluster.nodes()).length === 2);
      expect(await cluster.nodes()).toContain(own);
      expect(cluster.other.pid).toBe(pid);
      await waitUntil('it is ready', async () => (await fetch(`${cluster.otherUrl}/readyz`).catch(() => undefined))?.status === 200);
      await waitUntil('the agent is connected', async () => (await cluster.ask(IDENTITY)).status === 200);
      expect((await cluster.askOther(IDENTITY)).body.data).toEqual([{ name: 'router-0' }]);
      const sessions = db.selectFrom('agent_sessions').select('node_id').where('closed_at', 'is', null);
      await waitUntil('one session is open', async () => (await sessions.execute()).length === 1);
    },
  );
});
