import { readFile, rm } from 'node:fs/promises';
import path from 'node:path';
import process from 'node:process';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { postgres } from '../harness/cluster/cluster-world.ts';
import { copyDemo, demoFile, freeDemoPorts } from '../harness/demo-copy.ts';
import { hasHaproxy } from '../harness/haproxy.ts';
import { hasNats } from '../harness/nats-server.ts';
import { childrenOf, commandLine } from '../harness/process-state.ts';
import { Program } from '../harness/program.ts';
import { waitUntil } from '../harness/wait-until.ts';

const START_MS = 240_000;
/** Of the cluster's ports, beside those that the search for free ones looks at. */
const FIRST_PORT = 24_000;

interface ClusterFile {
  base_url: string;
  sandbox_url: string;
  api_key: string;
  admin_email: string;
  internal_token: string;
  env: Record<string, string>;
  nodes: { name: string; base_url: string; pid: number }[];
  routers: { id: string; identity: string }[];
}

describe.skipIf(!postgres || !hasNats() || !hasHaproxy())('npm run cluster', () => {
  let folder: string;
  let port: string;
  let cluster: Program;
  let told: ClusterFile;

  beforeAll(async () => {
    folder = await copyDemo();
    port = String(await freeDemoPorts(FIRST_PORT));
    cluster = new Program(demoFile(folder, 'scripts/cluster.ts'), [], { DEMO_PORT: port, SIGNALBOX_RATE_LIMIT_PER_MINUTE: '100000' });
    cluster.start();
    await waitUntil('the cluster says how it ends', () => cluster.output.includes('Ctrl-C ends the cluster.') || failIfOver(), START_MS);
    told = await readTold();
  }, START_MS + 10_000);
  afterAll(async () => {
    await cluster.interrupt();
    await rm(folder, { recursive: true, force: true });
  });

  /** @throws with what it printed when the cluster has ended */
  function failIfOver(): undefined {
    return void cluster.pid;
  }

  async function readTold(): Promise<ClusterFile> {
    return JSON.parse(await readFile(path.join(folder, '.demo/cluster.json'), 'utf8')) as ClusterFile;
  }

  async function ask(server: string, routerId: string): Promise<number> {
    const answer = await fetch(`${server}/api/synchronous/${routerId}`, {
      method: 'POST',
      headers: { authorization: `Bearer ${told.api_key}`, 'content-type': 'application/json' },
      body: JSON.stringify({ command: '/system/identity/print', parameters: '' }),
    });
    await answer.body?.cancel();
    return answer.status;
  }

  /** Through this control plane, every router answers. */
  async function isWhole(server: string): Promise<boolean> {
    const answers = await Promise.all(told.routers.map(({ id }) => ask(server, id).catch(() => 0)));
    return answers.every((status) => status === 200);
  }

  test('tells programs where everything is, and each control plane reaches every router', { timeout: START_MS }, async () => {
    expect(told).toMatchObject({
      base_url: `http://127.0.0.1:${port}`,
      admin_email: 'admin@example.test',
      internal_token: expect.any(String),
      env: { SIGNALBOX_DATABASE_URL: expect.stringMatching(/^postgres:/) },
      nodes: [{ name: 'node-1' }, { name: 'node-2' }, { name: 'node-3' }],
      routers: [{ identity: 'edge-berlin' }, { identity: 'edge-zurich' }, { identity: 'edge-vienna' }],
    });
    expect((await fetch(`${told.base_url}/readyz`)).status).toBe(200);
    for (const { base_url: server } of told.nodes) await waitUntil(`all routers answer at ${server}`, () => isWhole(server), START_MS);
    const own = told.nodes.map(({ pid }) => commandLine(pid));
    expect(own.every((words) => words.includes('server/main.ts serve'))).toBe(true);
  });

  test('a killed control plane stays dead, its agents come back elsewhere, and it can be revived', { timeout: 3 * START_MS }, async () => {
    const [dead, ...others] = told.nodes as [ClusterFile['nodes'][number], ...ClusterFile['nodes']];
    process.kill(dead.pid, 'SIGKILL');
    for (const server of [told.base_url, ...others.map(({ base_url: url }) => url)])
      await waitUntil(`all routers answer at ${server} again`, () => isWhole(server), START_MS);
    await waitUntil('the cluster says so', () => cluster.output.includes(`${dead.name} ended with SIGKILL, and stays so.`));
    expect(commandLine(dead.pid)).toBe('');

    const revive = new Program(demoFile(folder, 'scripts/cluster.ts'), ['revive', dead.name], { DEMO_PORT: port });
    revive.start();
    expect(await revive.ended()).toBe(0);
    expect(revive.output).toContain(`${dead.name} is ready, as process `);
    const [revived] = (await readTold()).nodes;
    expect(revived!.pid).not.toBe(dead.pid);
    expect(commandLine(revived!.pid)).toContain('server/main.ts serve');
    await waitUntil('all routers answer there', () => isWhole(dead.base_url), START_MS);
  });

  test('says which control planes can be revived', { timeout: START_MS }, async () => {
    const revive = new Program(demoFile(folder, 'scripts/cluster.ts'), ['revive', 'node-9'], { DEMO_PORT: port });
    revive.start();
    expect(await revive.ended()).toBe(1);
    expect(revive.output).toContain('node-1 | node-2 | node-3');
  });

  test('exits on Ctrl-C and leaves no process', { timeout: START_MS }, async () => {
    const children = childrenOf(cluster.pid);
    // PostgreSQL, nats-server, HAProxy, and three routers, control planes and agents.
    expect(children).toHaveLength(12);
    expect(await cluster.interrupt()).toBe(0);
    expect(children.filter((pid) => commandLine(pid) !== '')).toEqual([]);
  });
});
