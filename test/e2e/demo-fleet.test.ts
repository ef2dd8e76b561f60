import { readFile, rm } from 'node:fs/promises';
import path from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { copyDemo, demoFile, freeDemoPorts } from '../harness/demo-copy.ts';
import { Program } from '../harness/program.ts';
import { waitUntil } from '../harness/wait-until.ts';

/** `npm run demo -- --routers N`, with enough of them for more than one page of the list. */

/** More than a page of the list holds. */
const ROUTERS = 1050;
/** Two starts of the control plane, an export and an import, beside other programs. */
const START_MS = 600_000;
const DAY = 86_400_000;

let folder: string;
let demo: Program;
let url: string;
let key: string;

beforeAll(async () => {
  folder = await copyDemo();
  const port = String(await freeDemoPorts(26_000));
  demo = new Program(demoFile(folder, 'scripts/demo.ts'), [`--routers=${ROUTERS}`], { DEMO_PORT: port });
  demo.start();
  await waitUntil('the demo says how it ends', () => demo.output.includes('Ctrl-C ends the demo.') || void demo.pid, START_MS);
  const told = JSON.parse(await readFile(path.join(folder, '.demo/demo.json'), 'utf8')) as { base_url: string; api_key: string };
  url = told.base_url;
  key = told.api_key;
}, START_MS + 10_000);
afterAll(async () => {
  await demo.interrupt();
  await rm(folder, { recursive: true, force: true });
});

async function get<T>(route: string): Promise<T> {
  const answer = await fetch(url + route, { headers: { authorization: `Bearer ${key}` } });
  return ((await answer.json()) as { data: T }).data;
}

interface Listed {
  id: string;
  identity: string;
  state: string;
  state_since: string;
}

test('the fleet has sites with places, and most of its routers answer', async () => {
  const routers = await waitUntil('most answer', async () => {
    const all = await get<Listed[]>('/api/routers?limit=5000');
    return all.filter(({ state }) => state === 'answering').length > ROUTERS * 0.7 && all;
  });
  // The two that are simulated in full are there, too.
  expect(routers).toHaveLength(ROUTERS + 2);
  const sites = await get<{ latitude: number | null }[]>('/api/sites');
  expect(sites).toHaveLength(ROUTERS / 12.5);
  expect(sites.every(({ latitude }) => latitude !== null)).toBe(true);
});

test('it has a past: sessions that ended, outages with reasons, faults that are over, and agents that have been away for long', async () => {
  const agents = await get<{ id: string; name: string }[]>('/api/agents');
  const sessions = await Promise.all(
    agents.map(({ id }) => get<{ opened_at: string; ended_by: string | null }[]>(`/api/agents/${id}/sessions`)),
  );
  const oldest = Math.min(...sessions.flat().map(({ opened_at: at }) => Date.parse(at)));
  expect(Date.now() - oldest).toBeGreaterThan(8 * DAY);
  expect(new Set(sessions.flat().map(({ ended_by: by }) => by))).toContain('silence');
  const faults = await get<{ type: string; resolved_at: string | null }[]>('/api/faults');
  expect(faults.some(({ type, resolved_at: at }) => type === 'router_offline' && at !== null)).toBe(true);
  const away = (await get<Listed[]>('/api/routers?limit=5000')).filter(({ state, state_since: since }) => {
    return state === 'agent_away' && Date.now() - Date.parse(since) > 3_600_000;
  });
  expect(away.length).toBeGreaterThan(5);
});

test('its past was measured: the lines of the agents and the health of the routers', async () => {
  // Of the fleet, not one of the two that are simulated in full.
  const [router] = await get<{ id: string; agent_id: string }[]>('/api/routers?state=answering&q=gw&limit=1');
  for (const route of [`/api/agents/${router!.agent_id}/link`, `/api/routers/${router!.id}/health`]) {
    const { steps } = await get<{ steps: { from: string }[] }>(route);
    expect(Date.now() - Date.parse(steps[0]!.from), route).toBeGreaterThan(DAY / 2);
  }
});

test(
  'people have worked with it: jobs with every end, a campaign stopped by its canary, forwards and backups',
  async () => {
    // The one that runs may be over before the last of the others is.
    const ends = new Set<string>();
    await waitUntil(
      'every kind of end has been there',
      async () => {
        const jobs = await get<{ status: string; reason: string | null }[]>('/api/jobs');
        for (const { status, reason } of jobs) ends.add(reason ?? status);
        return ['completed', 'running', 'script_error', 'rolled_back', 'router_rebooted'].every((end) => ends.has(end));
      },
      START_MS,
    );
    const campaigns = await get<{ stop_reason: string | null }[]>('/api/campaigns');
    expect(campaigns.map(({ stop_reason: reason }) => reason)).toContain('canary_failed');
    const forwards = await get<{ bytes_out: number; bytes_in: number }[]>('/api/transient-forwarding');
    expect(forwards.length).toBeGreaterThanOrEqual(4);
    await waitUntil('bytes have passed', async () =>
      (await get<{ bytes_in: number }[]>('/api/transient-forwarding')).some(({ bytes_in: bytes }) => bytes > 0),
    );
    const backups = await get<{ origin: string }[]>('/api/backups');
    expect(new Set(backups.map(({ origin }) => origin))).toEqual(new Set(['job', 'request']));
  },
  START_MS + 10_000,
);
