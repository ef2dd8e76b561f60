/**
 * A simulated router in a process of its own, which `router-process.ts` starts inside a network namespace. Talks with its
 * parent over Node's IPC and ends with it.
 */
import process from 'node:process';
import { type Simulator, type SimulatorOptions, startSimulator } from '../simulator/index.ts';
import { JumpingTime } from './jumping-time.ts';

export type LabCall =
  | { method: 'start'; options: Partial<SimulatorOptions> }
  | { method: 'items'; path: string }
  | { method: 'log' }
  | { method: 'paste'; lines: readonly string[] }
  | { method: 'files'; folder: string }
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
    case 'paste':
      return paste(simulator, call.lines);
    case 'files':
      return filesIn(simulator, call.folder);
    case 'jump':
      return time.jump(call.ms);
    case 'reboot':
      return simulator.reboot();
  }
}

/** An administrator's terminal. What the lines wait for takes its time: a clock that runs ahead would be a fault of the router. */
async function paste({ router }: Simulator, lines: readonly string[]): Promise<{ output: string; error: string | undefined }> {
  let output = '';
  const { signal } = new AbortController();
  const session = { user: 'admin', policies: router.policiesOf('admin'), origin: 'ssh' as const, signal };
  const { error } = await router.scripts.run(lines.join('\n'), session, (text) => (output += text));
  return { output, error };
}

/** Names below the folder, and contents in base64. */
function filesIn({ router }: Simulator, folder: string): Record<string, string> {
  const files = router.files.list().filter(({ name, directory }) => !directory && name.startsWith(`${folder}/`));
  return Object.fromEntries(files.map(({ name, contents }) => [name.slice(folder.length + 1), contents.toString('base64')]));
}

process.on('message', ({ id, call }: { id: number; call: LabCall }) => {
  answer(call).then(
    (result) => process.send?.({ id, result: result ?? null }),
    (error: unknown) => process.send?.({ id, error: error instanceof Error ? error.message : String(error) }),
  );
});
process.on('disconnect', () => process.exit(0));
