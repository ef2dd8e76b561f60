import { readdir, readFile } from 'node:fs/promises';
import path from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Log, LogFields } from '../../server/platform/core/log.ts';
import { waitUntil } from '../harness/wait-until.ts';
import { World } from '../harness/world.ts';

/** What test/harness/world.ts gives its agent to log in to the routers with. */
const ROUTER_PASSWORD = 'router-password';
const SCRIPT = ':put "output-of-the-script"; :global secretOfTheScript "hidden"';
const PARAMETER = 'secret-parameter';

const lines: string[] = [];
const recordingLog: Log = {
  debug: (fields, message) => keep(fields, message),
  info: (fields, message) => keep(fields, message),
  warn: (fields, message) => keep(fields, message),
  error: (fields, message) => keep(fields, message),
  child: () => recordingLog,
};
function keep(fields: LogFields, message: string): void {
  lines.push(
    `${message} ${JSON.stringify(fields, (_key, value: unknown) => (value instanceof Error ? `${value.message} ${value.stack}` : value))}`,
  );
}

let world: World;
let routerId: string;
beforeAll(async () => {
  // Its database is a file that is searched.
  world = await World.start({ overrides: { log: recordingLog }, spread: false });
  [routerId] = (await world.routerIds()) as [string];
  const job = { description: 'd', script: SCRIPT, make_backup: false, express_execute: true, needs_acknowledgement: true };
  const { body } = await world.caller.call<{ data: { job_id: string } }>('POST', `/api/asynchronous/${routerId}`, job);
  await waitUntil('the job is done', async () => {
    const jobs = await world.caller.call<{ data: { id: string; status: string }[] }>('GET', `/api/routers/${routerId}/jobs`);
    return jobs.body.data.some(({ id, status }) => id === body.data.job_id && status === 'completed');
  });
  await world.caller.call('POST', `/api/synchronous/${routerId}`, { command: '/ip/address/print', parameters: `?comment=${PARAMETER}` });
  await world.caller.call('POST', `/api/synchronous/${routerId}`, { command: '/no/such', parameters: `=comment=${PARAMETER}` });
});
afterAll(async () => world.close());

test('no router password reaches the control plane', async () => {
  const files = (await readdir(world.folder)).filter((name) => name.startsWith('signalbox.db'));
  expect(files.length).toBeGreaterThan(0);
  for (const file of files) expect((await readFile(path.join(world.folder, file))).includes(ROUTER_PASSWORD), file).toBe(false);
  for (const url of ['/api/routers', '/api/agents', `/api/routers/${routerId}/metadata`]) {
    expect(JSON.stringify((await world.caller.call('GET', url)).body)).not.toContain(ROUTER_PASSWORD);
  }
  expect(lines.join('\n')).not.toContain(ROUTER_PASSWORD);
});

test('the log of the control plane has no secret, no script and no output', () => {
  const log = lines.join('\n');
  expect(lines.length).toBeGreaterThan(2);
  const secret = world.caller.apiKey.split(':')[2]!;
  for (const hidden of [secret, 'secretOfTheScript', 'output-of-the-script', PARAMETER]) expect(log).not.toContain(hidden);
});
