import { once } from 'node:events';
import net from 'node:net';
import type { AddressInfo } from 'node:net';
import { startSimulator } from '../../../test/simulator/index.ts';
import { BENCH_LOGIN } from './simulator.ts';

export interface RecordingSimulatorPart {
  apiPort: number;
  /** A client of this port reads when each script started, as JSON: name -> milliseconds since 1970. */
  recordPort: number;
}

/** A simulated router that records when each script started. */
export async function startRecordingSimulatorPart(): Promise<RecordingSimulatorPart> {
  const simulator = await startSimulator({
    apiPort: 0,
    sshPort: null,
    identity: 'bench',
    serialNumber: 'BENCHJOBS',
    users: [{ name: BENCH_LOGIN.username, password: BENCH_LOGIN.password, group: 'full' }],
  });
  const server = net.createServer((socket) => {
    socket.on('error', () => socket.destroy());
    const scripts = simulator.executions.filter(({ kind }) => kind === 'script');
    socket.end(JSON.stringify(Object.fromEntries(scripts.map(({ name, startedAt }) => [name, startedAt]))));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return { apiPort: simulator.apiPort, recordPort: (server.address() as AddressInfo).port };
}
