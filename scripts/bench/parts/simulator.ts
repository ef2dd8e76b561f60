import { startSimulator } from '../../../test/simulator/index.ts';

export const BENCH_LOGIN = { username: 'bench', password: 'bench-password' };

/** A simulated router. @returns the port of its API */
export async function startSimulatorPart({ serialNumber = 'BENCH1' }: { serialNumber?: string }): Promise<number> {
  const simulator = await startSimulator({
    apiPort: 0,
    sshPort: 0,
    identity: 'bench',
    serialNumber,
    users: [{ name: BENCH_LOGIN.username, password: BENCH_LOGIN.password, group: 'full' }],
  });
  return simulator.apiPort;
}
