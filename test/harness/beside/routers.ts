/** A process of simulated routers that send without end, one of each kind after another. Prints their ports as JSON. */
import process from 'node:process';
import { ENDLESS } from '../../simulator/api/endless.ts';
import { startSimulator } from '../../simulator/index.ts';

const count = Number(process.argv[2]);
const ports: number[] = [];
for (let index = 0; index < count; index += 1) {
  const simulator = await startSimulator({ identity: `hostile-${index}`, sshPort: null });
  simulator.faults.endless = ENDLESS[index % ENDLESS.length];
  ports.push(simulator.apiPort);
}
process.stdout.write(`${JSON.stringify(ports)}\n`);
process.stdin.on('end', () => process.exit(0)).resume();
