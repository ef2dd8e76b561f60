import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { expect, test } from 'vitest';
import { startAgent } from '../../agent/app.ts';
import { parseConfig } from '../../agent/config.ts';
import { startSimulator } from '../simulator/index.ts';
import { silentLog } from '../harness/silent-log.ts';
import { TunnelServer } from '../harness/tunnel-world.ts';
import { waitUntil } from '../harness/wait-until.ts';

test('a reconnecting agent announces the routers that answer and reports the others as unreachable', async () => {
  const folder = await mkdtemp(path.join(os.tmpdir(), 'signalbox-reconnect-'));
  const server = await new TunnelServer().listen();
  const url = `http://127.0.0.1:${server.port}`;
  const { agentId, secret } = server.sessions.add();
  await writeFile(path.join(folder, 'credentials.json'), JSON.stringify({ server: url, agent_id: agentId, secret }), { mode: 0o600 });
  const users = [{ name: 'agent', password: 'secret', group: 'full' }];
  const simulators = await Promise.all(
    ['dead', 'alive'].map((identity) => startSimulator({ apiPort: 0, sshPort: 0, identity, serialNumber: identity, users })),
  );
  const routers = simulators.map(({ apiPort }, index) => ({
    name: ['dead', 'alive'][index],
    host: '127.0.0.1',
    api: { port: apiPort, username: 'agent', password: 'secret' },
  }));
  const agent = await startAgent(parseConfig({ server: url, credentials: 'credentials.json', state: 'state', routers }, folder), {
    log: silentLog,
    random: () => 0,
  });
  const { lines } = server.events;
  const told = (line: string) => waitUntil(line, () => lines.includes(line));
  try {
    await told('inventory #1 dead');
    await told('inventory #1 alive');
    simulators[0]!.faults.refuseConnections = true;
    simulators[0]!.faults.resetConnections();
    await told('heartbeat #1 dead=down');
    server.registry.disconnect(agentId, 'restart');
    await told('inventory #2 alive');
    expect(lines.filter((line) => line.includes('#2'))).toEqual(['ready #2', 'heartbeat #2 dead=down alive=up', 'inventory #2 alive']);
    simulators[0]!.faults.refuseConnections = false;
    await told('inventory #2 dead');
    await told('heartbeat #2 dead=up');
  } finally {
    await agent.close();
    await server.close();
    await Promise.all(simulators.map((simulator) => simulator.close()));
    await rm(folder, { recursive: true, force: true });
  }
});
