import { once } from 'node:events';
import { readFile, writeFile } from 'node:fs/promises';
import http from 'node:http';
import type { AddressInfo } from 'node:net';
import path from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { startAgent } from '../../agent/app.ts';
import type { RunningAgent } from '../../agent/app.ts';
import { checkAgent } from '../../agent/check.ts';
import { parseConfig } from '../../agent/config.ts';
import type { AgentConfig } from '../../agent/config.ts';
import { enrol } from '../../agent/link/enrol.ts';
import type { CheckRow } from '../../agent/routers/check/index.ts';
import { silentLog } from '../harness/silent-log.ts';
import { waitUntil } from '../harness/wait-until.ts';
import { World } from '../harness/world.ts';

/** `signalbox-agent check` says which routers the control plane does not manage through this agent, and why. */

let world: World;
let second: RunningAgent | undefined;
beforeEach(async () => {
  world = await World.start();
  await world.routerIds();
});
afterEach(async () => {
  await second?.close();
  second = undefined;
  await world.close();
});

/** Another agent of the team, with these entries for the one simulated router. */
async function enrolSecond(names: string[]): Promise<AgentConfig> {
  const { token } = await world.server.services.credentials.createEnrolToken({ teamId: world.caller.teamId, siteId: null });
  const credentials = path.join(world.folder, 'second.json');
  await enrol({ server: world.server.url, token, name: 'second', credentialsFile: credentials });
  return configOf(names, 'second');
}

function configOf(names: string[], state: string, server = world.server.url): AgentConfig {
  const { apiPort } = world.simulators[0]!;
  const routers = names.map((name) => ({
    name,
    host: '127.0.0.1',
    api: { port: apiPort, username: 'signalbox', password: 'router-password' },
  }));
  return parseConfig({ server, credentials: `${state}.json`, state, routers }, world.folder);
}

const notOk = (rows: CheckRow[]) =>
  rows.filter(({ ok, warning }) => !ok || warning === true).map(({ router, what, ok, detail }) => ({ router, what, ok, detail }));

async function claims(): Promise<{ id: string }[]> {
  return (await world.caller.call<{ data: { id: string }[] }>('GET', '/api/router-moves')).body.data;
}

test('the check reports a router whose move is pending, refused and approved', async () => {
  const config = await enrolSecond(['claimed']);
  expect(notOk(await checkAgent(config))).toEqual([]);
  second = await startAgent(config, { log: silentLog, random: () => 0 });
  const [move] = await waitUntil('the move waits', async () => {
    const list = await claims();
    return list.length > 0 && list;
  });
  const rows = await checkAgent(config);
  expect(rows.find(({ what }) => what === 'accepted')).toMatchObject({ router: 'control plane', ok: true });
  expect(notOk(rows)).toEqual([
    {
      router: 'claimed',
      what: 'managed',
      ok: false,
      detail:
        'SERIAL0 waits for approval: agent "test" has this router as "router-0". An administrator approves or refuses the move: ' +
        'signalbox router-moves, or GET /api/router-moves (no commands, jobs, backups or forwards until then)',
    },
  ]);
  // The check has not replaced the running agent's tunnel, nor settled anything.
  expect(await claims()).toHaveLength(1);
  // The agent that has the router sees nothing of the claim in its own check.
  expect(notOk(await checkAgent(configOf(['router-0'], 'credentials')))).toEqual([]);

  await world.caller.call('POST', `/api/router-moves/${move!.id}/refuse`);
  expect(notOk(await checkAgent(config))).toMatchObject([
    { router: 'claimed', what: 'managed', ok: false, detail: expect.stringContaining('an administrator refused the move') },
  ]);

  await world.caller.call('POST', `/api/router-moves/${move!.id}/approve`);
  expect(notOk(await checkAgent(config))).toEqual([]);
});

test('the check reports a second entry for the same router', async () => {
  await world.agent?.close();
  world.agent = undefined;
  await world.caller.call(
    'DELETE',
    `/api/agents/${(JSON.parse(await readFile(path.join(world.folder, 'credentials.json'), 'utf8')) as { agent_id: string }).agent_id}`,
  );
  const config = await enrolSecond(['one', 'two']);
  second = await startAgent(config, { log: silentLog, random: () => 0 });
  const rows = await waitUntil('the second entry is known as a duplicate', async () => {
    const found = notOk(await checkAgent(config));
    return found.length > 0 && found;
  });
  expect(rows).toMatchObject([
    {
      what: 'managed',
      ok: false,
      detail: expect.stringMatching(/^SERIAL0 the entry "(one|two)" \(127\.0\.0\.1\) reports the same serial number and has the router/),
    },
  ]);
});

test('the check reports a revoked agent and a wrong secret', async () => {
  const config = await enrolSecond(['claimed']);
  const file = path.join(world.folder, 'second.json');
  const credentials = JSON.parse(await readFile(file, 'utf8')) as { agent_id: string; secret: string };
  await writeFile(file, JSON.stringify({ ...credentials, secret: 'x'.repeat(62) }));
  const refused = [
    { router: 'control plane', what: 'accepted', ok: false, detail: expect.stringContaining('does not accept these credentials') },
  ];
  expect(notOk(await checkAgent(config))).toMatchObject(refused);
  await writeFile(file, JSON.stringify(credentials));
  expect(notOk(await checkAgent(config))).toEqual([]);
  await world.caller.call('DELETE', `/api/agents/${credentials.agent_id}`);
  expect(notOk(await checkAgent(config))).toMatchObject(refused);
});

test('an API key, an enrolment token and a missing credential are refused', async () => {
  const { token } = await world.server.services.credentials.createEnrolToken({ teamId: world.caller.teamId, siteId: null });
  for (const bearer of [world.caller.apiKey, token, undefined]) {
    const answer = await fetch(`${world.server.url}/agent/v1/unmanaged`, {
      headers: bearer === undefined ? {} : { authorization: `Bearer ${bearer}` },
    });
    expect(answer.status).toBe(401);
  }
});

test('the check reports that an older control plane does not answer', async () => {
  await enrolSecond(['claimed']);
  const old = http.createServer((request, response) => {
    response.writeHead(request.url === '/healthz' ? 200 : 404).end();
  });
  old.listen(0, '127.0.0.1');
  await once(old, 'listening');
  try {
    const rows = await checkAgent(configOf(['claimed'], 'second', `http://127.0.0.1:${(old.address() as AddressInfo).port}`));
    expect(notOk(rows)).toMatchObject([
      { router: 'control plane', what: 'accepted', ok: true, detail: expect.stringContaining('too old') },
    ]);
  } finally {
    old.close();
  }
});
