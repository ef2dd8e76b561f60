import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
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
import { Program } from './program.ts';
import { silentLog } from './silent-log.ts';
import { waitUntil } from './wait-until.ts';

/** Control plane and agent as real installed processes; either can be killed. */
export class Installation {
  readonly server: Program;
  readonly agent: Program;
  readonly #folder: string;
  readonly #url: string;
  readonly #databaseUrl: string;
  #apiKey = '';

  private constructor(folder: string, port: number, forwardPorts: string) {
    this.#folder = folder;
    this.#url = `http://127.0.0.1:${port}`;
    this.#databaseUrl = `sqlite:${path.join(folder, 'signalbox.db')}`;
    this.server = new Program('server/main.ts', ['serve'], {
      SIGNALBOX_LISTEN: `127.0.0.1:${port}`,
      SIGNALBOX_SANDBOX_LISTEN: '',
      SIGNALBOX_DATABASE_URL: this.#databaseUrl,
      SIGNALBOX_SECRET_KEY_FILE: path.join(folder, 'secret.key'),
      SIGNALBOX_ALLOW_PRIVATE_SOURCES: 'on',
      SIGNALBOX_FORWARD_PORTS: forwardPorts,
      SIGNALBOX_RATE_LIMIT_PER_MINUTE: '100000',
    });
    this.agent = new Program('agent/main.ts', ['run', '--config', path.join(folder, 'agent.yaml')]);
  }

  /** @param agent the agent's configuration without what the installation knows itself: routers and forwards */
  static async start(options: { agent: object; forwardPorts: string }): Promise<Installation> {
    const folder = await mkdtemp(path.join(os.tmpdir(), 'signalbox-installation-'));
    const installation = new Installation(folder, await freePort(), options.forwardPorts);
    try {
      await installation.#start(options.agent);
      return installation;
    } catch (error) {
      await installation.close();
      throw error;
    }
  }

  async call<T>(method: string, route: string, body?: object): Promise<T> {
    const answer = await fetch(this.#url + route, {
      method,
      headers: { authorization: `Bearer ${this.#apiKey}`, ...(body ? { 'content-type': 'application/json' } : {}) },
      ...(body ? { body: JSON.stringify(body) } : {}),
    });
    return (answer.status === 204 ? undefined : await answer.json()) as T;
  }

  /** The only router, as soon as it is listed with a pulse. */
  routerId(): Promise<string> {
    return waitUntil('the router has a pulse', async () => {
      const { data } = await this.call<{ data: { id: string; has_pulse: boolean }[] }>('GET', '/api/routers');
      return data.find((router) => router.has_pulse)?.id;
    });
  }

  /** Opens a forward. The answer to the request waits at most five seconds for the agent to open its side; this waits longer. */
  async forward<T extends { id: string; authorized_at: string | null }>(routerId: string, body: object): Promise<T> {
    const route = `/api/routers/${routerId}/transient-forwarding`;
    const { id } = await this.call<T>('POST', route, body);
    return waitUntil('the forward is open', async () => {
      const now = await this.call<T>('GET', `${route}/${id}`);
      return now.authorized_at === null ? undefined : now;
    });
  }

  async close(): Promise<void> {
    await this.agent.stop();
    await this.server.stop();
    await rm(this.#folder, { recursive: true, force: true });
  }

  async #start(agent: object): Promise<void> {
    const credentials = path.join(this.#folder, 'credentials.json');
    await writeFile(path.join(this.#folder, 'agent.yaml'), stringify({ server: this.#url, credentials, state: 'state', ...agent }));
    this.server.start();
    await waitUntil('the control plane answers', async () => (await fetch(`${this.#url}/healthz`).catch(() => undefined))?.ok);
    const { apiKey, token } = await createTeam(this.#databaseUrl);
    this.#apiKey = apiKey;
    await enrol({ server: this.#url, token, name: 'test', credentialsFile: credentials });
    this.agent.start();
  }
}

/** A team with an API key and a token for its agent, made beside the running control plane. */
export async function createTeam(databaseUrl: string): Promise<{ apiKey: string; token: string }> {
  const storage = await openStorage(databaseUrl, { log: silentLog });
  const auth = new CredentialsService({ storage, clock: systemClock, log: silentLog });
  try {
    const { id: teamId } = await new TeamsService({ storage, clock: systemClock }).createTeam('Test');
    const { apiKey } = await auth.createApiKey({ teamId, name: 'test', createdBy: null });
    const { token } = await auth.createEnrolToken({ teamId, siteId: null });
    return { apiKey, token };
  } finally {
    await auth.stop();
    await storage.close();
  }
}

/** A free loopback port. */
export async function freePort(): Promise<number> {
  const server = net.createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, 'close');
  return port;
}
