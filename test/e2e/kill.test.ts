import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { stringify } from 'yaml';
import { startAgent } from '../../agent/app.ts';
import type { RunningAgent } from '../../agent/app.ts';
import { loadConfig } from '../../agent/config.ts';
import { enrol } from '../../agent/link/enrol.ts';
import { createTeam, freePort } from '../harness/installation.ts';
import { Program } from '../harness/program.ts';
import { silentLog } from '../harness/silent-log.ts';
import { TunnelProxy } from '../harness/tunnel-proxy.ts';
import type { Watch } from '../harness/tunnel-proxy.ts';
import { waitUntil } from '../harness/wait-until.ts';
import { startSimulator } from '../simulator/index.ts';
import type { Simulator } from '../simulator/index.ts';

/**
 * Control plane and agent as real processes, each killed (SIGKILL) right before or right after every message of the
 * hand-over passes between them. Whatever happens, the job is not lost,
 * the router has run it at most once, and the status says what is known.
 */
describe.each(['server', 'agent'] as const)('kill -9 of the %s', (victim) => {
  let folder: string;
  let simulator: Simulator;
  let proxy: TunnelProxy;
  let programs: Record<'server' | 'agent', Program>;
  /** Survives the kills of the server in this process, with the shortest pauses between dials. */
  let survivor: RunningAgent | undefined;
  let url: string;
  let apiKey: string;
  let routerId: string;

  beforeAll(async () => {
    folder = await mkdtemp(path.join(os.tmpdir(), 'signalbox-kill-'));
    const login = { username: 'signalbox', password: 'secret' };
    simulator = await startSimulator({
      apiPort: 0,
      sshPort: 0,
      users: [{ name: login.username, password: login.password, group: 'full' }],
    });
    const port = await freePort();
    url = `http://127.0.0.1:${port}`;
    const env = {
      SIGNALBOX_LISTEN: `127.0.0.1:${port}`,
      SIGNALBOX_SANDBOX_LISTEN: '',
      SIGNALBOX_DATABASE_URL: `sqlite:${path.join(folder, 'signalbox.db')}`,
      SIGNALBOX_SECRET_KEY_FILE: path.join(folder, 'secret.key'),
      SIGNALBOX_RATE_LIMIT_PER_MINUTE: '100000',
      SIGNALBOX_HEARTBEAT_SECONDS: '1',
      SIGNALBOX_OFFLINE_AFTER_SECONDS: '3',
    };
    proxy = await TunnelProxy.start(port);
    const config = path.join(folder, 'agent.yaml');
    await writeFile(
      config,
      stringify({
        server: `http://127.0.0.1:${proxy.port}`,
        credentials: 'credentials.json',
        state: 'state',
        routers: [{ name: 'r', host: '127.0.0.1', api: { port: simulator.apiPort, ...login }, ssh: { port: simulator.sshPort, ...login } }],
      }),
    );
    programs = { server: new Program('server/main.ts', ['serve'], env), agent: new Program('agent/main.ts', ['run', '--config', config]) };
    programs.server.start();
    await waitUntil('the control plane answers', async () => (await fetch(`${url}/healthz`).catch(() => undefined))?.ok);
    const made = await createTeam(env.SIGNALBOX_DATABASE_URL);
    apiKey = made.apiKey;
    await enrol({ server: url, token: made.token, name: 'test', credentialsFile: path.join(folder, 'credentials.json') });
    if (victim === 'agent') programs.agent.start();
    else survivor = await startAgent(await loadConfig(config), { log: silentLog, random: () => 0 });
    routerId = await waitUntil('the router has a pulse', async () => {
      const { data } = await call<{ data: { id: string; has_pulse: boolean }[] }>('GET', '/api/routers');
      return data.find((router) => router.has_pulse)?.id;
    });
  });

  afterAll(async () => {
    await survivor?.close();
    await programs.agent.stop();
    await programs.server.stop();
    await proxy.close();
    await simulator.close();
    await rm(folder, { recursive: true, force: true });
  });

  async function call<T>(method: string, route: string, body?: object, headers: Record<string, string> = {}): Promise<T> {
    const answer = await fetch(url + route, {
      method,
      headers: { authorization: `Bearer ${apiKey}`, ...(body ? { 'content-type': 'application/json' } : {}), ...headers },
      ...(body ? { body: JSON.stringify(body) } : {}),
    });
    return (await answer.json()) as T;
  }

  /** Asks until the control plane is there again. */
  const callAgain = <T>(method: string, route: string, body?: object, headers?: Record<string, string>): Promise<T> =>
    waitUntil(`${method} ${route} is answered`, () => call<T>(method, route, body, headers).catch(() => undefined));

  interface Job {
    id: string;
    status: string;
    reason: string | null;
    output: string | null;
  }

  const steps: [string, Watch['direction']][] = [
    ['job.offer', 'to-agent'],
    ['job.accepted', 'to-server'],
    ['job.go', 'to-agent'],
    ['job.began', 'to-server'],
    ['job.ended', 'to-server'],
    ['job.ack', 'to-agent'],
  ];
  const cases = steps.flatMap(([type, direction]) => (['before', 'after'] as const).map((when) => ({ type, direction, when })));

  test.each(cases)('$when $type passes', async ({ type, direction, when }) => {
    const body = {
      description: `${when} ${type}`,
      script: `:put "ran"; :delay 100ms`,
      make_backup: false,
      express_execute: true,
      needs_acknowledgement: true,
    };
    const seen = proxy.watch({ direction, text: `"type":"${type}"`, when });
    const key = { 'idempotency-key': `${victim}-${when}-${type}` };
    const receipt = call('POST', `/api/asynchronous/${routerId}`, body, key).catch(() => undefined);
    await seen;
    await programs[victim].kill();
    await receipt;
    proxy.cut();
    programs[victim].start();
    // Whether or not the first answer came through: the same key finds the same job.
    await callAgain('POST', `/api/asynchronous/${routerId}`, body, key);
    const job = await waitUntil('the job has ended', async () => {
      const jobs = (await callAgain<{ data: Job[] }>('GET', `/api/routers/${routerId}/jobs`)).data.filter(
        (candidate) => (candidate as unknown as { description: string }).description === body.description,
      );
      expect(jobs).toHaveLength(1);
      return jobs[0]!.status === 'pending' || jobs[0]!.status === 'running' ? undefined : jobs[0]!;
    });
    const runs = simulator.executions.filter((execution) => execution.name === `signalbox-${job.id}`);
    // Killed between BEGIN and the run, the agent may not run it any more: that is what `unknown` is for.
    expect(runs.length, programs.agent.output).toBeLessThanOrEqual(1);
    expect(job.status).toBe(runs.length === 1 && job.status !== 'unknown' ? 'completed' : 'unknown');
    // The answer to the run may have died with the agent; then the marker on the router tells how it ended, and no output.
    const isOutputKnown = victim === 'server' || type === 'job.ended' || type === 'job.ack';
    if (job.status === 'completed') expect(isOutputKnown ? ['ran\n'] : ['ran\n', null]).toContain(job.output);
    if (victim === 'server') expect(job.status).toBe('completed');
  });

  test('during a command is reported to the caller, and the next command works', async () => {
    const route = `/api/synchronous/${routerId}`;
    const body = { command: '/system/identity/print', parameters: '' };
    const isAnswered = async () => (await callAgain<{ status: string }>('POST', route, body)).status === 'success';
    await waitUntil('a command is answered', isAnswered);
    simulator.faults.delayMs = 500;
    const asked = proxy.watch({ direction: 'to-agent', text: '"method":"command"', when: 'after' });
    const first = call<{ code?: string; status?: string }>('POST', route, body).catch(() => 'cut' as const);
    await asked;
    await programs[victim].kill();
    const answer = await first;
    expect(answer === 'cut' || answer.code === 'outcome_unknown' || answer.status === 'success').toBe(true);
    simulator.faults.delayMs = 0;
    programs[victim].start();
    await waitUntil('a command is answered again', isAnswered);
  });
});
