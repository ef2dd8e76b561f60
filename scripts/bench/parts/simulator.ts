import { startSimulator } from '../../../test/simulator/index.ts';

export const BENCH_LOGIN = { username: 'bench', password: 'bench-password' };

/** The user of terminals. */
export const BENCH_TERMINAL = { username: 'term', password: 'terminal-password' };

export interface SimulatorPart {
  apiPort: number;
  sshPort: number;
}

/** A simulated router. */
export async function startSimulatorPart({ serialNumber = 'BENCH1' }: { serialNumber?: string }): Promise<SimulatorPart> {
  const simulator = await startSimulator({
    apiPort: 0,
    sshPort: 0,
    identity: 'bench',
    serialNumber,
    users: [BENCH_LOGIN, BENCH_TERMINAL].map(({ username: name, password }) => ({ name, password, group: 'full' })),
  });
  return { apiPort: simulator.apiPort, sshPort: simulator.sshPort };
}
