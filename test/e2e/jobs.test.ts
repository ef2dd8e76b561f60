import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { SimulatorOptions } from '../simulator/index.ts';
import { waitUntil } from '../harness/wait-until.ts';
import { World } from '../harness/world.ts';

/** A job as a caller sees it, from the POST to its end, on every way the agent has of running a script. */

interface Job extends Record<string, unknown> {
  id: string;
  status: string;
  phase: string;
  reason: string | null;
  error: string | null;
  output: string | null;
}

/** Way of running a script to the routers that need it. */
const WAYS: [string, Partial<SimulatorOptions>][] = [
  ['7.18.2, API and SSH', { version: '7.18.2' }],
  ['7.18.2, API only', { version: '7.18.2', sshPort: null }],
  ['7.10.2, API only', { version: '7.10.2', sshPort: null }],
  ['7.18.2, SSH only', { version: '7.18.2', apiPort: null }],
  ['6.49.10, API and SSH', { version: '6.49.10' }],
  ['6.49.10, API only', { version: '6.49.10', sshPort: null }],
  ['6.49.10, SSH only', { version: '6.49.10', apiPort: null }],
];

const FINAL = ['completed', 'failed', 'expired', 'unknown', 'deleted'];

describe.each(WAYS)('a job on a router with RouterOS %s', (way, options) => {
  const isBlind = way === '6.49.10, API only';
  let world: World;
  let routerId: string;

  beforeAll(async () => {
    world = await World.start({ routers: [options] });
    routerId = (await world.routerIds())[0]!;
  });

  afterAll(() => world.close());

  async function submit(script: string, more: Record<string, unknown> = {}, headers = {}): Promise<string> {
    const body = { description: 'test', script, make_backup: false, express_execute: true, needs_acknowledgement: true, ...more };
    const answer = await world.caller.call<{ data: { job_id: string } }>('POST', `/api/asynchronous/${routerId}`, body, headers);
    expect(answer.status, JSON.stringify(answer.body)).toBe(200);
    return answer.body.data.job_id;
  }

  async function read(id: string): Promise<Job> {
    return (await world.caller.call<{ data: Job }>('GET', `/api/routers/${routerId}/jobs/${id}`)).body.data;
  }

  const finish = (id: string): Promise<Job> =>
    waitUntil('the job ends', async () => {
      const job = await read(id);
      return job.phase !== 'accepted' && FINAL.includes(job.status) ? job : undefined;
    });

  const simulator = () => world.simulators[0]!;
  const addresses = (): string[] =>
    simulator()
      .items('/ip/address')
      .map((row) => row['address'] ?? '');
  const stored = (): string[] =>
    simulator()
      .items('/system/script')
      .map((row) => row['name'] ?? '');
  const runsOf = (id: string) => simulator().executions.filter(({ kind, name }) => kind === 'script' && name === `signalbox-${id}`);

  it('changes the router once and goes from pending to completed', async () => {
    const id = await submit('/ip address add address=10.1.2.3/24 interface=ether2; :put "it is done"');
    const job = await finish(id);
    expect(job).toMatchObject({ status: 'completed', phase: 'done', reason: null, error: null, failed_at: null });
    expect(job['started_at']).not.toBeNull();
    expect(job['completed_at']).not.toBeNull();
    expect(job.output).toBe(isBlind ? null : 'it is done\n');
    expect(addresses()).toContain('10.1.2.3/24');
    expect(runsOf(id)).toHaveLength(1);
    await waitUntil('nothing of it is left on the router', () => !stored().includes(`signalbox-${id}`));
  });

  it('fails with line and column when the script does not parse, and changes nothing', async () => {
    const id = await submit('/ip address add address=10.9.9.9/24 interface=ether2\n/ip address frobnicate');
    const job = await finish(id);
    expect(job).toMatchObject({ status: 'failed', reason: 'script_error' });
    expect(job.error).toMatch(/\(line 2 column \d+\)/);
    expect(addresses()).not.toContain('10.9.9.9/24');
  });

  it("reports the caller's own column also in the first line", async () => {
    const job = await finish(await submit(':put before; /ip address frobnicate\n:put after'));
    expect(job).toMatchObject({ status: 'failed', reason: 'script_error' });
    expect(job.error).toContain('(line 1 column 26)');
  });

  it('fails with the message of the router when a command is refused', async () => {
    const id = await submit(':put before; /ip address add address=10.1.2.3/24 interface=ether2\n:put after');
    const job = await finish(id);
    expect(job).toMatchObject({ status: 'failed', reason: 'script_error' });
    expect(job.error).toMatch(/already have such address/);
  });

  it('keeps quotes, dollars, braces and line ends of the script unchanged', async () => {
    const id = await submit(':local a "x\\"y\\\\z";\n:foreach i in={1;2} do={\n  :put "$a $i {}"\n}\n# the end');
    const job = await finish(id);
    expect(job).toMatchObject({ status: 'completed', error: null });
    if (!isBlind) expect(job.output).toBe('x"y\\z 1 {}\nx"y\\z 2 {}\n');
  });

  it('may end early with :return', async () => {
    const job = await finish(await submit(':if (true) do={ :return 1 }\n:put never'));
    expect(job).toMatchObject({ status: 'completed', reason: null });
  });

  it.skipIf(isBlind)('keeps 64 kB of its output and marks longer output as truncated', async () => {
    const print = (lines: number): string => `:for i from=1 to=${lines} do={ :put "${'ä'.repeat(49)}" }`;
    // 99 bytes a line.
    const whole = await finish(await submit(print(661)));
    expect(whole).toMatchObject({ status: 'completed', output_truncated: false });
    expect(Buffer.byteLength(whole.output ?? '')).toBe(661 * 99);
    const cut = await finish(await submit(print(700)));
    expect(cut).toMatchObject({ status: 'completed', output_truncated: true });
    expect(Buffer.byteLength(cut.output ?? '')).toBeGreaterThan(64 * 1024 - 4);
    expect(cut.output).toMatch(/^(?:ä{49}\n)+ä*$/);
  });

  it('reports the true result when it cuts its own connection', async () => {
    const back = '/ip service set api disabled=no; /ip service set ssh disabled=no; /system scheduler remove back';
    const away = '/ip service set api disabled=yes; /ip service set ssh disabled=yes';
    const id = await submit(`/system scheduler add name=back interval=2s on-event="${back}"; ${away}; :delay 1s; :put done`);
    const job = await finish(id);
    const [run] = runsOf(id);
    expect(runsOf(id)).toHaveLength(1);
    expect(job).toMatchObject(run?.outcome === 'ok' ? { status: 'completed' } : { status: 'unknown', reason: 'interrupted' });
    await world.routerIds();
  });

  it('takes a backup and an export first when asked', async () => {
    const id = await submit(':put 1', { make_backup: true });
    expect(await finish(id)).toMatchObject({ status: 'completed' });
    const files = simulator()
      .items('/file')
      .map((row) => row['name'] ?? '');
    expect(files.filter((name) => name.includes(id)).map((name) => name.replace(/^.*\./, ''))).toEqual(
      expect.arrayContaining(['backup', 'rsc']),
    );
  });

  it('does not run when the backup fails', async () => {
    simulator().faults.diskFull = true;
    try {
      const id = await submit('/ip address add address=10.7.7.7/24 interface=ether2', { make_backup: true });
      expect(await finish(id)).toMatchObject({ status: 'failed', reason: 'backup_failed', started_at: null });
      expect(addresses()).not.toContain('10.7.7.7/24');
    } finally {
      simulator().faults.clear();
    }
  });

  it('is completed at once without acknowledgement', async () => {
    const id = await submit(':error "nobody waits for this"', { needs_acknowledgement: false });
    const job = await waitUntil('it has run', async () => {
      const now = await read(id);
      return now.phase === 'done' ? now : undefined;
    });
    expect(job).toMatchObject({ status: 'completed', failed_at: null, reason: 'script_error' });
  });

  it('is created once when the POST is repeated with its idempotency key', async () => {
    const key = randomUUID();
    const [first, second] = [
      await submit(':put 1', {}, { 'idempotency-key': key }),
      await submit(':put 1', {}, { 'idempotency-key': key }),
    ];
    expect(second).toBe(first);
    await finish(first);
    expect(runsOf(first)).toHaveLength(1);
  });

  it('is stopped and fails when it takes too long', async () => {
    const id = await submit(':delay 60s', { timeout_seconds: 1 });
    const job = await finish(id);
    expect(job).toMatchObject({ reason: 'timed_out' });
    await waitUntil('the script is stopped', () => simulator().items('/system/script/job').length === 0);
  });

  it('is unknown, and never run again, when the router reboots in the middle', async () => {
    const id = await submit(':delay 60s; /ip address add address=10.8.8.8/24 interface=ether2');
    await waitUntil('it runs', () => runsOf(id).length === 1);
    await simulator().reboot();
    expect(await finish(id)).toMatchObject({ status: 'unknown', reason: 'router_rebooted' });
    expect(runsOf(id)).toHaveLength(1);
    expect(addresses()).not.toContain('10.8.8.8/24');
  });

  it('is not run again after the agent was restarted in the middle', async () => {
    await world.routerIds();
    const id = await submit(':delay 2s; :put 1');
    await waitUntil('it runs', () => runsOf(id).length === 1);
    await world.agent!.close();
    await world.startAgent();
    const job = await finish(id);
    expect(['completed', 'unknown']).toContain(job.status);
    const [run] = runsOf(id);
    if (job.status === 'completed') expect(run?.outcome).toBe('ok');
    expect(runsOf(id)).toHaveLength(1);
  });
});
