import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { expect, it } from 'vitest';
import { stringify } from 'yaml';
import { Program } from '../harness/program.ts';
import { waitUntil } from '../harness/wait-until.ts';

/** Nothing listens on port 9 of this machine. */
const NOBODY = 9;

interface Line {
  level: number;
  msg: string;
  reason?: string;
}

/** pino's number for lines that are shown unless somebody asks for fewer. */
const INFO = 30;

it('an agent that reaches neither control plane nor routers keeps trying and logs it once', async () => {
  const folder = await mkdtemp(path.join(os.tmpdir(), 'signalbox-alone-'));
  const server = `http://127.0.0.1:${NOBODY}`;
  const config = path.join(folder, 'agent.yaml');
  await writeFile(
    path.join(folder, 'credentials.json'),
    JSON.stringify({ server, agent_id: '01900000-0000-7000-8000-000000000000', secret: 'a'.repeat(43) }),
    { mode: 0o600 },
  );
  const routers = [{ name: 'r', host: '127.0.0.1', api: { port: NOBODY, username: 'a', password: 'b' } }];
  await writeFile(config, stringify({ server, credentials: 'credentials.json', state: 'state', log_level: 'debug', routers }));
  const agent = new Program('agent/main.ts', ['run', '--config', config]);
  try {
    agent.start();
    const times = (message: string): number => agent.output.split(`"msg":"${message}"`).length - 1;
    const triedOften = (): boolean => times('still no connection to the control plane') >= 4 && times('router still unreachable') >= 2;
    await waitUntil('it has tried again and again, or ended', () => triedOften() || !agent.isRunning);
    expect(agent.isRunning, agent.output.slice(-500)).toBe(true);
    const lines = agent.output
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line) as Line);
    expect(
      lines
        .filter((line) => line.level >= INFO)
        .map(({ msg, reason }) => `${msg}: ${reason}`)
        .toSorted(),
    ).toEqual([
      'no connection to the control plane: connect ECONNREFUSED 127.0.0.1:9',
      'router unreachable: 127.0.0.1:9: connection refused: is the service enabled on this port? (ECONNREFUSED)',
    ]);
    expect(agent.output).not.toContain('"stack"');
    expect(await agent.stop()).toBe(0);
  } finally {
    await agent.kill();
    await rm(folder, { recursive: true, force: true });
  }
});
