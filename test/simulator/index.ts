/** The only door of the RouterOS stand-in. */
import { startApiServer, type ApiListener } from './api/server.ts';
import type { Execution } from './executions.ts';
import type { Faults } from './faults.ts';
import type { ScriptEngine } from './menu/types.ts';
import type { SimulatorOptions } from './options.ts';
import { SimulatedRouter } from './router.ts';

export { SimulatedRouter } from './router.ts';
export { ManualTime, systemTime, type TimeSource } from './time.ts';
export type { SimulatorOptions, SimulatedUser, SimulatedHost } from './options.ts';
export type { Execution } from './executions.ts';
export { MODEL_NAMES } from './models.ts';

export interface Simulator {
  /** Ports really listened on; 0 where a service is off. */
  readonly apiPort: number;
  readonly apiTlsPort: number;
  readonly sshPort: number;
  readonly router: SimulatedRouter;
  readonly faults: Faults;
  /** Everything that really ran, oldest first. */
  readonly executions: readonly Execution[];
  /** Items of a menu as plain objects, whoever may see them. */
  items(path: string): Record<string, string>[];
  /** Drops every session, stays away for `downMs` (default 1000 ms of the time source), and comes back. */
  reboot(options?: { downMs?: number }): Promise<void>;
  close(): Promise<void>;
}

/** Starts a router; every port is chosen before it resolves. Rejects when a port is taken or an option makes no sense. */
export async function startSimulator(options: Partial<SimulatorOptions> = {}): Promise<Simulator> {
  const router = new SimulatedRouter(options, () => NO_SCRIPTS);
  const { host, apiPort } = router.options;
  const api = apiPort === null ? undefined : await startApiServer(router, { host, port: apiPort });
  return simulator(router, api);
}

const NO_SCRIPTS: ScriptEngine = { run: () => Promise.resolve({ error: 'scripts are not simulated yet' }) };

function simulator(router: SimulatedRouter, api: ApiListener | undefined): Simulator {
  const everything = new Set(['read', 'policy', 'sensitive']);
  const session = { user: 'test', policies: everything, origin: 'console' as const, signal: new AbortController().signal };
  return {
    apiPort: api?.port ?? 0,
    apiTlsPort: 0,
    sshPort: 0,
    router,
    faults: router.faults,
    executions: router.executions.list(),
    items: (path) => router.menus.items(session, path).map((row) => Object.fromEntries(row)),
    reboot: () => Promise.resolve(),
    close: async () => {
      router.powerOff();
      await api?.close();
    },
  };
}
