/**
 * A simulated router in a process of its own, which `test/harness/network-lab.ts` starts inside a network namespace. Talks with its
 * parent over Node's IPC and ends with it.
 */
import process from 'node:process';
import { type Simulator, type SimulatorOptions, startSimulator } from '../simulator/index.ts';
import { JumpingTime } from './jumping-time.ts';

export type LabCall =
  | { method: 'start'; options: Partial<SimulatorOptions> }
  | { method: 'items'; path: string }
  | { method: 'log' }
  | { method: 'jump'; ms: number }
  | { method: 'reboot' };

const time = new JumpingTime();
let simulator: Simulator | undefined;

async function answer(call: LabCall): Promise<unknown> {
  if (call.method === 'start') {
    simulator = await startSimulator({ ...call.options, time });
    return { apiPort: simulator.apiPort, sshPort: simulator.sshPort };
  }
  if (!simulator) throw new Error('not started');
  switch (call.method) {
    case 'items':
      await simulator.router.observe();
      return simulator.items(call.path);
    case 'log':
      return simulator.log;
    case 'jump':
      return time.jump(call.ms);
    case 'reboot':
      return simulator.reboot();
  }
}

process.on('message', ({ id, call }: { id: number; call: LabCall }) => {
  answer(call).then(
    (result) => process.send?.({ id, result: result ?? null }),
    (error: unknown) => process.send?.({ id, error: error instanceof Error ? error.message : String(error) }),
  );
});
process.on('disconnect', () => process.exit(0));
