import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { expect, it } from 'vitest';
import { stringify } from 'yaml';
import { Program } from '../harness/program.ts';
import { waitUntil } from '../harness/wait-until.ts';

/** Nothing listens on port 9 of this machine. */
const NOBODY = 9;

it('an agent that reaches neither its control plane nor any router stays and goes on trying', async () => {
  const folder = await mkdtemp(path.join(os.tmpdir(), 'signalbox-alone-'));
  const server = `http://127.0.0.1:${NOBODY}`;
  const config = path.join(folder, 'agent.yaml');
  await writeFile(path.join(folder, 'credentials.json'), JSON.stringify({ server, agent_id: '01900000-0000-7000-8000-000000000000', secret: 'a'.repeat(43) }), { mode: 0o600 });
  const routers = [{ name: 'r', host: '127.0.0.1', api: { port: NOBODY, username: 'a', password: 'b' } }];
  await writeFile(config, stringify({ server, credentials: 'credentials.json', state: 'state', routers }));
  const agent = new Program('agent/main.ts', ['run', '--config', config]);
  try {
    agent.start();
    const dials = (): number => agent.output.match(/"type":"LinkError"/g)?.length ?? 0;
    await waitUntil('it has dialled again and again, or ended', () => dials() >= 4 || !agent.isRunning, 30_000);
    expect(agent.isRunning, agent.output.slice(-500)).toBe(true);
    expect(await agent.stop()).toBe(0);
  } finally {
    await agent.kill();
    await rm(folder, { recursive: true, force: true });
  }
}, 60_000);
