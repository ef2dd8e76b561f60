import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { chmod, mkdtemp, rm, writeFile } from 'node:fs/promises';
import net from 'node:net';
import type { AddressInfo } from 'node:net';
import os from 'node:os';
import path from 'node:path';
import { stringify } from 'yaml';
import { enrol } from '../../agent/link/enrol.ts';
import { CredentialsService } from '../../server/access/credentials/service.ts';
import { systemClock } from '../../server/platform/core/clock.ts';
import { openStorage } from '../../server/platform/storage/open.ts';
import { TeamsService } from '../../server/access/teams/service.ts';
import { startSimulator } from '../simulator/index.ts';
import type { Simulator, SimulatorOptions } from '../simulator/index.ts';
import { startOpensshServer } from './openssh-server.ts';
import type { OpensshServer } from './openssh-server.ts';
import { Program } from './program.ts';
import { silentLog } from './silent-log.ts';
import { StallProxy } from './stall-proxy.ts';
import { TERMINAL_USERS, terminalConfig } from './terminal-users.ts';
import { waitUntil } from './wait-until.ts';

export interface ProcessRouter {
  /** What the agent may use; the others are not configured. `openssh` is Debian's sshd in place of the simulator's. */
  ways: { api?: boolean; ssh?: 'simulated' | 'openssh' };
  options?: Partial<SimulatorOptions>;
}

export interface ProcessWorldOptions {
  routers?: ProcessRouter[];
  /** Environment of the control plane beside the usual. */
  server?: Record<string, string>;
  /** Leads the agent's connections through {@link ProcessWorld.line}, which costs speed. */
  line?: boolean;
  /** `terminal` of the agent; users for both levels are configured with it. */
  terminal?: 'read' | 'full';
  /** Of the control plane; a file of its own when missing. */
  databaseUrl?: string;
}

/** A forward as the API shows it. */
export interface ShownForward {
  id: string;
  router_id: string;
  port: number;
  way: string | null;
  way_reason: string | null;
  target_reachable: boolean | null;
  authorized_at: string | null;
  expires_at: string;
  closed_at: string | null;
  revoked_early: boolean;
  open_connections: number;
}

/** One line of a forward's connection log: a connection that is over. */
export interface ShownConnection {
  id: string;
  source: string;
  opened_at: string;
  closed_at: string;
  bytes_in: number;
  bytes_out: number;
  ended_by: string;
}

const LOGIN = { username: 'signalbox', password: 'router-password' };
/** Only what hangs meets it: of a loaded machine each command through two SSH servers takes seconds. */
const START_MS = 120_000;

/**
 * Control plane and agent as processes of their own, to be measured, killed and started again; simulated routers and
 * the line between the two (`line.cut()`) are in this one. Everything ends with {@link ProcessWorld.close}.
 */
export class ProcessWorld {
  readonly folder: string;
  readonly simulators: Simulator[] = [];
  /** By router; undefined where its SSH is simulated. */
  readonly sshds: (OpensshServer | undefined)[] = [];
  server!: Program;
  agent!: Program;
  line: StallProxy | undefined;
  url = '';
  databaseUrl = '';
  apiKey = '';
  /** In the order of the routers. */
  routerIds: string[] = [];
  readonly #options: Required<Omit<ProcessWorldOptions, 'databaseUrl' | 'terminal'>> &
    Pick<ProcessWorldOptions, 'databaseUrl' | 'terminal'>;

  private constructor(folder: string, options: ProcessWorldOptions) {
    this.folder = folder;
    this.#options = { routers: [{ ways: { api: true, ssh: 'simulated' } }], server: {}, line: false, ...options };
  }

  static async start(options: ProcessWorldOptions = {}): Promise<ProcessWorld> {
    const world = new ProcessWorld(await mkdtemp(path.join(os.tmpdir(), 'signalbox-processes-')), options);
    try {
      await world.#startAll();
      return world;
    } catch (error) {
      await world.close();
      throw error;
    }
  }

  async call<T>(method: string, route: string, body?: object): Promise<T> {
    const answer = await fetch(this.url + route, {
      method,
      headers: { authorization: `Bearer ${this.apiKey}`, ...(body ? { 'content-type': 'application/json' } : {}) },
      ...(body ? { body: JSON.stringify(body) } : {}),
      signal: AbortSignal.timeout(30_000),
    });
    const text = await answer.text();
    if (!answer.ok) throw new Error(`${method} ${route}: ${answer.status} ${text}`);
    return (text === '' ? undefined : JSON.parse(text)) as T;
  }

  /** A new forward, open: 127.0.0.1 is the router itself, other loopback addresses are behind it. */
  async forward(port: number, { address = '127.0.0.1', router = 0, minutes = 30 } = {}): Promise<ShownForward> {
    const body = { expire_after_minutes: minutes, dst_port: port, dst_address: address, allow_from: '127.0.0.1' };
    const made = await this.call<ShownForward>('POST', this.#route(router), body);
    return made.authorized_at === null ? this.authorized(made) : made;
  }

  async shown({ id, router_id: routerId }: ShownForward): Promise<ShownForward> {
    return this.call<ShownForward>('GET', `/api/routers/${routerId}/transient-forwarding/${id}`);
  }

  /** As soon as the agent has opened its side. */
  authorized(forward: ShownForward): Promise<ShownForward> {
    return waitUntil(
      'the forward is open',
      async () => {
        const now = await this.shown(forward).catch(() => undefined);
        return now?.authorized_at === null ? undefined : now;
      },
      START_MS,
    );
  }

  async revoke({ id, router_id: routerId }: ShownForward): Promise<void> {
    await this.call('DELETE', `/api/routers/${routerId}/transient-forwarding/${id}`);
  }

  /** Newest first, at most a hundred. */
  async connectionsOf({ id, router_id: routerId }: ShownForward): Promise<ShownConnection[]> {
    const { data } = await this.call<{ data: ShownConnection[] }>(
      'GET',
      `/api/routers/${routerId}/transient-forwarding/${id}/connections?limit=100`,
    );
    return data.filter((connection) => connection.ended_by !== 'open');
  }

  /** Starts it (again) and waits until it serves requests. */
  async startServer(): Promise<void> {
    this.server.start();
    const isUp = async (): Promise<boolean | undefined> => (await fetch(`${this.url}/healthz`).catch(() => undefined))?.ok;
    await waitUntil('the control plane answers', isUp, START_MS);
  }

  /** Resolves when all routers have a pulse. */
  async pulses(): Promise<string[]> {
    return waitUntil(
      'all routers have a pulse',
      async () => {
        const { data } = await this.call<{ data: { id: string; identity: string; has_pulse: boolean }[] }>('GET', '/api/routers');
        const ids = this.simulators.map(
          (_simulator, index) => data.find((router) => router.identity === identityOf(index) && router.has_pulse)?.id,
        );
        return ids.every((id) => id !== undefined) ? ids : undefined;
      },
      START_MS,
    );
  }

  async close(): Promise<void> {
    await (this.agent as Program | undefined)?.stop();
    await (this.server as Program | undefined)?.stop();
    await this.line?.close();
    for (const simulator of this.simulators) await simulator.close();
    for (const sshd of this.sshds) await sshd?.close();
    await rm(this.folder, { recursive: true, force: true });
  }

  #route(router: number): string {
    return `/api/routers/${this.routerIds[router]}/transient-forwarding`;
  }

  async #startAll(): Promise<void> {
    const port = await freePort();
    this.url = `http://127.0.0.1:${port}`;
    this.databaseUrl = this.#options.databaseUrl ?? `sqlite:${path.join(this.folder, 'signalbox.db')}`;
    this.server = new Program('server/main.ts', ['serve'], {
      SIGNALBOX_LISTEN: `127.0.0.1:${port}`,
      SIGNALBOX_SANDBOX_LISTEN: '',
      SIGNALBOX_DATABASE_URL: this.databaseUrl,
      SIGNALBOX_SECRET_KEY_FILE: path.join(this.folder, 'secret.key'),
      SIGNALBOX_RATE_LIMIT_PER_MINUTE: '100000',
      SIGNALBOX_ALLOW_PRIVATE_SOURCES: 'on',
      SIGNALBOX_FORWARD_PORTS: '21000-29999',
      SIGNALBOX_HEARTBEAT_SECONDS: '1',
      SIGNALBOX_OFFLINE_AFTER_SECONDS: '3',
      ...this.#options.server,
    });
    await this.startServer();
    if (this.#options.line) this.line = await StallProxy.start(port);
    await this.#enrol();
    const config = path.join(this.folder, 'agent.yaml');
    await writeFile(config, stringify(await this.#agentConfig()));
    this.agent = new Program('agent/main.ts', ['run', '--config', config]);
    this.agent.start();
    this.routerIds = await this.pulses();
  }

  async #enrol(): Promise<void> {
    const storage = await openStorage(this.databaseUrl, { log: silentLog });
    const auth = new CredentialsService({ storage, clock: systemClock, log: silentLog });
    try {
      const { id: teamId } = await new TeamsService({ storage, clock: systemClock }).createTeam('Test');
      this.apiKey = (await auth.createApiKey({ teamId, name: 'test', createdBy: null })).apiKey;
      const { token } = await auth.createEnrolToken({ teamId, siteId: null });
      await enrol({ server: this.url, token, name: 'test', credentialsFile: path.join(this.folder, 'credentials.json') });
    } finally {
      await auth.stop();
      await storage.close();
    }
  }

  async #agentConfig(): Promise<object> {
    const routers: object[] = [];
    for (const [index, router] of this.#options.routers.entries()) routers.push(await this.#startRouter(index, router));
    return {
      server: this.line ? `http://127.0.0.1:${this.line.port}` : this.url,
      credentials: 'credentials.json',
      state: 'state',
      forwards: { allow: ['127.0.0.0/8'] },
      log_level: 'debug',
      terminal: this.#options.terminal ?? 'off',
      routers,
    };
  }

  async #startRouter(index: number, { ways, options }: ProcessRouter): Promise<object> {
    const console = path.join(this.folder, `console-${index}`);
    const sshd = ways.ssh === 'openssh' ? await startOpensshServer([`ForceCommand ${console}`]) : undefined;
    this.sshds.push(sshd);
    const users = [
      { name: LOGIN.username, password: LOGIN.password, group: 'full' },
      ...(sshd ? [{ name: 'console', password: '', group: 'full', publicKeys: [readFileSync(`${sshd.folder}/user.pub`, 'utf8')] }] : []),
      ...(this.#options.terminal === undefined ? [] : TERMINAL_USERS),
    ];
    const simulator = await startSimulator({ identity: identityOf(index), serialNumber: `SERIAL${index}`, users, ...options });
    this.simulators.push(simulator);
    if (sshd) await writeConsole(console, sshd, simulator);
    return {
      name: identityOf(index),
      host: '127.0.0.1',
      ...(ways.api ? { api: { port: simulator.apiPort, ...LOGIN } } : {}),
      ...(ways.ssh === 'simulated' ? { ssh: { port: simulator.sshPort, ...LOGIN } } : {}),
      ...(this.#options.terminal === undefined ? {} : { terminal: { port: simulator.sshPort, ...terminalConfig() } }),
      ...(sshd ? { ssh: { port: sshd.port, username: sshd.username, private_key_file: path.join(sshd.folder, 'user') } } : {}),
    };
  }
}

/** The login shell for OpenSSH: the console of the simulated router. */
async function writeConsole(file: string, sshd: OpensshServer, simulator: Simulator): Promise<void> {
  const options = ['StrictHostKeyChecking=no', 'UserKnownHostsFile=/dev/null', 'LogLevel=ERROR', `IdentityFile=${sshd.folder}/user`];
  const words = ['ssh', ...options.map((option) => `-o ${option}`), '-p', String(simulator.sshPort), 'console@127.0.0.1'];
  await writeFile(file, `#!/bin/sh\nexec ${words.join(' ')} "$SSH_ORIGINAL_COMMAND"\n`);
  await chmod(file, 0o700);
}

function identityOf(index: number): string {
  return `router-${index}`;
}

async function freePort(): Promise<number> {
  const server = net.createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, 'close');
  return port;
}
