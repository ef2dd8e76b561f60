import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { waitUntil } from '../harness/wait-until.ts';
import { World } from '../harness/world.ts';
import type { SimulatorOptions } from '../simulator/index.ts';

/** Backups of jobs on their way from the router to a download, by every way that a router has. */

interface Shown {
  id: string;
  job_id: string;
  state: string;
  error: string | null;
  parts: { part: string; size: number; sha256: string }[];
}

interface Job {
  status: string;
  phase: string;
  reason: string | null;
  backup: string | null;
}

const WAYS: [string, Partial<SimulatorOptions>, string[]][] = [
  ['7.18.2', {}, ['binary', 'export', 'export_after']],
  ['7.18.2 by SSH alone', { apiPort: null }, ['binary', 'export', 'export_after']],
  ['7.18.2 by the API alone', { sshPort: null }, ['binary', 'export', 'export_after']],
  ['7.18.2 by an API that spoils binary files', { sshPort: null, binaryFileRead: 'question marks' }, ['export', 'export_after']],
  ['6.49.10', { version: '6.49.10' }, ['binary', 'export', 'export_after']],
  ['6.49.10 by the API alone', { version: '6.49.10', sshPort: null }, ['export', 'export_after']],
  ['7.18.2 without a flash folder', { model: 'CHR' }, ['binary', 'export', 'export_after']],
];

describe('the backup of a job on RouterOS', () => {
  let world: World;
  let routerIds: string[];
  let jobs: string[];
  /** Of the first job of each router. */
  const backups: Shown[] = [];
  const cases = WAYS.map(([name, , parts], index) => ({ name, parts, index }));

  const submitToAll = (script: string): Promise<string[]> => Promise.all(routerIds.map((routerId) => submit(world, routerId, script)));

  // The routers save their files for seconds, all at the same time.
  beforeAll(async () => {
    world = await World.start({ routers: WAYS.map(([, options]) => options) });
    routerIds = await world.routerIds();
    jobs = await submitToAll('/system identity set name=before');
  });
  afterAll(() => world.close());

  it.each(cases)('$name is fetched, shown with the job, and removed from the router', async ({ parts, index }) => {
    const routerId = routerIds[index]!;
    const backup = await stored(world, routerId, jobs[index]!);
    backups[index] = backup;
    expect(backup.parts.map(({ part }) => part)).toEqual(parts);
    // What is missing says why, so that somebody can give the agent SSH.
    expect(backup.error).toEqual(
      parts.includes('binary') ? null : expect.stringMatching(/^binary: .*(?:by SSH, or by the API from 7\.13|is not a backup)/),
    );
    expect(await readJob(world, routerId, jobs[index]!)).toMatchObject({ status: 'completed', backup: backup.id });
    const left = parts.includes('binary') ? [] : [expect.stringMatching(/\.backup$/)];
    await waitUntil('the router is clean', () => filesOf(world, index).length === left.length);
    expect(filesOf(world, index)).toEqual(left);
  });

  it.each(cases)('$name is downloaded unchanged', async ({ index }) => {
    const backup = backups[index]!;
    for (const { part, size, sha256 } of backup.parts) {
      const answer = await download(world, `/api/routers/${routerIds[index]}/backups/${backup.id}?part=${part}`);
      expect(answer.headers.get('content-disposition')).toMatch(
        part === 'binary' ? /^attachment; filename=".+\.backup"$/ : /^attachment; filename=".+\.rsc"$/,
      );
      const content = Buffer.from(await answer.arrayBuffer());
      expect(content).toHaveLength(size);
      expect(await digest(content)).toBe(sha256);
      if (part === 'binary') expect(content.toString('hex', 0, 4)).toBe('88aca1b1');
      else expect(content.toString()).toContain('by RouterOS');
    }
  });

  describe('of a second job', () => {
    let later: string[];
    beforeAll(async () => {
      later = await submitToAll('/system identity set name=after');
    });

    it.each(cases)('$name shows the changes of that job, and since the first backup', async ({ index }) => {
      const routerId = routerIds[index]!;
      const next = await stored(world, routerId, later[index]!);
      const changes = await world.caller.call<{ data: { changed: boolean; diff: string } }>(
        'GET',
        `/api/routers/${routerId}/jobs/${later[index]}/changes`,
      );
      expect(lines(changes.body.data.diff)).toEqual(['-set name=before', '+set name=after']);
      const diff = await world.caller.call<{ data: { diff: string } }>(
        'GET',
        `/api/routers/${routerId}/backups/${backups[index]!.id}/diff/${next.id}`,
      );
      expect(lines(diff.body.data.diff)).toEqual([expect.stringMatching(/^-set name=router-\d/), '+set name=before']);
    });
  });
});

describe('a backup', () => {
  it('that fails prevents the script from running', async () => {
    const world = await World.start();
    try {
      const [routerId] = await world.routerIds();
      world.simulators[0]!.faults.diskFull = true;
      const jobId = await submit(world, routerId!, '/system identity set name=changed');
      const job = await waitUntil('the job ends', async () => {
        const now = await readJob(world, routerId!, jobId);
        return now.phase === 'done' ? now : undefined;
      });
      expect(job).toMatchObject({ status: 'failed', reason: 'backup_failed', backup: null });
      expect(world.simulators[0]!.items('/system/identity')).toMatchObject([{ name: 'router-0' }]);
      expect(await list(world, routerId!)).toEqual([]);
    } finally {
      await world.close();
    }
  });

  it('that cannot be fetched is reported as lost and stays on the router', async () => {
    const world = await World.start({ routers: [{ version: '6.49.10', sshPort: null }] });
    try {
      const [routerId] = await world.routerIds();
      // More than this version shows as the contents of a file.
      for (let rule = 0; rule < 60; rule += 1)
        world.simulators[0]!.router.table('/ip/arp').add([
          ['address', `192.168.88.${100 + rule}`],
          ['mac-address', '4C:5E:0C:AA:BB:01'],
          ['interface', 'bridge'],
        ]);
      const jobId = await submit(world, routerId!, '/system identity set name=changed');
      const lost = await waitUntil('it is given up', async () => (await list(world, routerId!)).find(({ state }) => state === 'lost'));
      expect(lost).toMatchObject({ job_id: jobId, error: expect.stringContaining('SSH'), parts: [] });
      expect(await readJob(world, routerId!, jobId)).toMatchObject({ status: 'completed', backup: null });
      expect(filesOf(world)).toHaveLength(3);
    } finally {
      await world.close();
    }
  });

  it('does not delay its job: what cannot be fetched at once is fetched later', async () => {
    const world = await World.start();
    try {
      const [routerId] = await world.routerIds();
      // The router goes away in the moment in which the script has ended.
      const jobId = await submit(world, routerId!, '/system reboot; :delay 10s');
      await waitUntil('the job ends', async () => (await readJob(world, routerId!, jobId)).phase === 'unknown');
      const backup = await stored(world, routerId!, jobId, 60_000);
      expect(backup.parts.map(({ part }) => part)).toEqual(expect.arrayContaining(['binary', 'export']));
    } finally {
      await world.close();
    }
  });
});

async function submit(world: World, routerId: string, script: string): Promise<string> {
  const answer = await world.caller.call<{ data: { job_id: string } }>('POST', `/api/asynchronous/${routerId}`, {
    description: 'backed up',
    script,
    make_backup: true,
    express_execute: true,
    needs_acknowledgement: true,
  });
  expect(answer.status, JSON.stringify(answer.body)).toBe(200);
  return answer.body.data.job_id;
}

async function readJob(world: World, routerId: string, jobId: string): Promise<Job> {
  return (await world.caller.call<{ data: Job }>('GET', `/api/routers/${routerId}/jobs/${jobId}`)).body.data;
}

async function list(world: World, routerId: string): Promise<Shown[]> {
  return (await world.caller.call<{ data: Shown[] }>('GET', `/api/routers/${routerId}/backups`)).body.data;
}

function stored(world: World, routerId: string, jobId: string, ms = 20_000): Promise<Shown> {
  return waitUntil(
    'the backup is stored',
    async () => (await list(world, routerId)).find((each) => each.job_id === jobId && each.state === 'stored'),
    ms,
  );
}

async function download(world: World, path: string): Promise<Response> {
  const answer = await fetch(`${world.server.url}${path}`, { headers: { authorization: `Bearer ${world.caller.apiKey}` } });
  expect(answer.status).toBe(200);
  return answer;
}

async function digest(content: Buffer): Promise<string> {
  return Buffer.from(await crypto.subtle.digest('SHA-256', new Uint8Array(content))).toString('hex');
}

/** Added and removed lines of a diff. */
function lines(diff: string): string[] {
  return diff.split('\n').filter((line) => /^[-+](?![-+]{2})/.test(line));
}

function filesOf(world: World, router = 0): string[] {
  return world.simulators[router]!.items('/file')
    .map((row) => row['name'] ?? '')
    .filter((name) => name.includes('signalbox'));
}
