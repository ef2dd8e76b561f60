/** Public interface of the RouterOS simulator. */
import { startApiServer, type ApiListener, type Certificate } from './api/server.ts';
import { createSelfSigned } from './certificate.ts';
import type { Execution } from './executions.ts';
import type { Faults } from './faults.ts';
import { setPoeOut, setSensor } from './health.ts';
import type { SimulatorOptions } from './options.ts';
import { SimulatedRouter } from './router.ts';
import { createScripts } from './scripts.ts';
import { startSshServer, type SshListener } from './ssh/server.ts';

export { SimulatedRouter } from './router.ts';
export { ManualTime, systemTime, type TimeSource } from './time.ts';
export type { SimulatorOptions, SimulatedUser, SimulatedHost, SimulatedNetwork } from './options.ts';
export type { Execution } from './executions.ts';
export { MODEL_NAMES } from './models.ts';

export interface Simulator {
  /** Ports really listened on; 0 where a service is off. */
  readonly apiPort: number;
  readonly apiTlsPort: number;
  readonly sshPort: number;
  /** `SHA256:…` of the SSH host key, '' without SSH. */
  readonly sshFingerprint: string;
  /** PEM certificate of api-ssl, if it has one. */
  readonly tlsCertificate: string | undefined;
  readonly router: SimulatedRouter;
  readonly faults: Faults;
  /** All executions, oldest first. */
  readonly executions: readonly Execution[];
  /** Messages of the router's log, oldest first. */
  readonly log: string[];
  /** Items of a menu as plain objects, without any check of rights. */
  items(path: string): Record<string, string>[];
  /** Makes a sensor of `/system/health` print a value, in either version's form; the unit follows from its name. */
  setSensor(name: string, value: string): void;
  /** Makes a port one that powers others, and says how that goes: `powered-on`, `short-circuit`, … */
  setPoeOut(port: string, status: string): void;
  /** Drops every session, refuses new ones for `downMs` of the time source (default 0), and comes back. */
  reboot(options?: { downMs?: number }): Promise<void>;
  /** Ends everything; no handle stays open. */
  close(): Promise<void>;
}

interface Listeners {
  api: ApiListener | undefined;
  tls: ApiListener | undefined;
  ssh: SshListener | undefined;
  certificate: Certificate | undefined;
}

/** Starts a router; every port is known when it resolves. Rejects when a port is taken or an option makes no sense. */
export async function startSimulator(options: Partial<SimulatorOptions> = {}): Promise<Simulator> {
  const router = new SimulatedRouter(options, createScripts);
  const listeners: Listeners = { api: undefined, tls: undefined, ssh: undefined, certificate: undefined };
  router.powerOn();
  try {
    await openListeners(router, listeners);
    await router.settled();
  } catch (error) {
    await closeAll(router, listeners);
    throw error;
  }
  return simulator(router, listeners);
}

async function openListeners(router: SimulatedRouter, listeners: Listeners): Promise<void> {
  const { host, apiPort, apiTlsPort, sshPort, tls, sshHostKey } = router.options;
  if (apiPort !== null) listeners.api = await startApiServer(router, { host, port: apiPort });
  if (apiTlsPort !== null) {
    listeners.certificate = tls === 'self-signed' ? await createSelfSigned(router.options.identity) : tls;
    if (listeners.certificate) router.useCertificate(listeners.certificate.cert);
    listeners.tls = await startApiServer(router, { host, port: apiTlsPort, tls: { certificate: listeners.certificate } });
  }
  if (sshPort !== null)
    listeners.ssh = await startSshServer(router, { host, port: sshPort, ...(sshHostKey === undefined ? {} : { hostKey: sshHostKey }) });
}

async function closeAll(router: SimulatedRouter, { api, tls, ssh }: Listeners): Promise<void> {
  await router.powerOff();
  await Promise.all([api?.close(), tls?.close(), ssh?.close()]);
}

function simulator(router: SimulatedRouter, listeners: Listeners): Simulator {
  const policies = new Set(['read', 'policy', 'sensitive', 'test']);
  const session = { user: 'test', policies, origin: 'console' as const, signal: new AbortController().signal };
  const items = (path: string): Record<string, string>[] => router.menus.items(session, path).map((row) => Object.fromEntries(row));
  return {
    apiPort: listeners.api?.port ?? 0,
    apiTlsPort: listeners.tls?.port ?? 0,
    sshPort: listeners.ssh?.port ?? 0,
    sshFingerprint: listeners.ssh?.fingerprint ?? '',
    tlsCertificate: listeners.certificate?.cert,
    router,
    faults: router.faults,
    executions: router.executions.list(),
    items,
    get log() {
      return items('/log').map((entry) => entry['message'] ?? '');
    },
    setSensor: (name, value) => setSensor(router, name, value),
    setPoeOut: (port, status) => setPoeOut(router, port, status),
    reboot: ({ downMs = 0 } = {}) => reboot(router, downMs),
    close: () => closeAll(router, listeners),
  };
}

async function reboot(router: SimulatedRouter, downMs: number): Promise<void> {
  await router.powerOff();
  if (downMs > 0) await new Promise<void>((resolve) => void router.time.after(downMs, resolve));
  router.boot();
  await router.settled();
}
