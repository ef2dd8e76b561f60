/** Simulated routers in a process of their own: what they say really ran is the judge of the chaos test. */
import process from 'node:process';
import { fastTime } from '../../fast-time.ts';
import { startSimulator } from '../../../simulator/index.ts';
import type { Simulator, SimulatorOptions } from '../../../simulator/index.ts';
import type { FleetRecord, FleetRequest, Restore, RouterPorts, Run } from '../fleet-messages.ts';
import { FLEET_LOGIN, FLEET_SPEED, ROUTERS } from '../fleet.ts';

const simulators: Simulator[] = [];
const restores: Restore[] = [];

async function startRouter(options: Partial<SimulatorOptions>, index: number): Promise<RouterPorts> {
  const users = [{ name: FLEET_LOGIN.username, password: FLEET_LOGIN.password, group: 'full' }];
  const simulator = await startSimulator({ identity: `router-${index}`, users, time: fastTime(FLEET_SPEED), ...options });
  const { router } = simulator;
  const restore = router.restoreConfiguration.bind(router);
  // Restore points alone hold this mark. It names the job that is undone, and those undone before whose script is still there.
  router.restoreConfiguration = (saved) => {
    for (const [, jobId] of saved.matchAll(/# job ([0-9a-f-]{36}) undone/g)) {
      restores.push({ jobId: jobId!, hadRun: runsOf(simulator, index).some((run) => run.jobId === jobId) });
    }
    restore(saved);
  };
  simulators.push(simulator);
  return { api: simulator.apiPort, ssh: simulator.sshPort };
}

/** A stored script that has been replaced by its own marker is a comment: running that is no run. */
function runsOf({ executions }: Simulator, router: number): Run[] {
  return executions
    .filter(({ kind, name, source }) => kind === 'script' && name.startsWith('signalbox-') && !source.startsWith('# job'))
    .map(({ name, source: _source, user: _user, ...execution }) => ({ ...execution, jobId: name.slice('signalbox-'.length), router }));
}

function leftoversOf(simulator: Simulator, router: number): string[] {
  const guards = simulator.items('/system/scheduler').filter((entry) => entry['name']?.startsWith('signalbox-undo-') === true);
  const services = simulator.items('/ip/service').filter(({ name, disabled }) => (name === 'api' || name === 'ssh') && disabled === 'true');
  return [
    ...guards.map(({ name }) => `router ${router}: ${name} is still armed`),
    ...services.map(({ name }) => `router ${router}: ${name} is switched off`),
  ];
}

function record(): FleetRecord {
  return { runs: simulators.flatMap(runsOf), restores, leftovers: simulators.flatMap(leftoversOf) };
}

async function answer(request: FleetRequest): Promise<unknown> {
  switch (request.method) {
    case 'start':
      return Promise.all(ROUTERS.map(startRouter));
    case 'record':
      return record();
    case 'reset':
      return simulators[request.router]!.faults.resetConnections();
    case 'reboot':
      return simulators[request.router]!.reboot({ downMs: request.downMs });
    case 'refuse':
      return void (simulators[request.router]!.faults.refuseConnections = request.on);
    case 'setClock': {
      const { clock } = simulators[request.router]!.router;
      return clock.setUtc(clock.utcMs() + request.byMs);
    }
  }
}

process.on('message', ({ id, request }: { id: number; request: FleetRequest }) => {
  answer(request).then(
    (result) => process.send?.({ id, result }),
    (error: unknown) => process.send?.({ id, error: String(error) }),
  );
});
process.on('disconnect', () => process.exit(0));
