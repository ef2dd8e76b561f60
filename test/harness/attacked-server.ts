import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { mkdtemp, readFile, rm, stat } from 'node:fs/promises';
import net from 'node:net';
import type { AddressInfo } from 'node:net';
import os from 'node:os';
import path from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { WebSocket } from 'ws';
import { CredentialsService } from '../../server/access/credentials/service.ts';
import { systemClock } from '../../server/platform/core/clock.ts';
import { openStorage } from '../../server/platform/storage/open.ts';
import type { Storage } from '../../server/platform/storage/db.ts';
import { TeamsService } from '../../server/access/teams/service.ts';
import { Program } from './program.ts';
import { silentLog } from './silent-log.ts';
import { waitUntil } from './wait-until.ts';

/** A control plane in its own process, with one team, its key, and agents that send any message. */
export class AttackedServer {
  readonly folder: string;
  readonly program: Program;
  readonly url: string;
  readonly databaseUrl: string;
  teamId = '';
  apiKey = '';

  private constructor(folder: string, port: number, env: Record<string, string>) {
    this.folder = folder;
    this.url = `http://127.0.0.1:${port}`;
    this.databaseUrl = `sqlite:${path.join(folder, 'signalbox.db')}`;
    this.program = new Program('server/main.ts', ['serve'], {
      SIGNALBOX_LISTEN: `127.0.0.1:${port}`,
      SIGNALBOX_SANDBOX_LISTEN: '',
      SIGNALBOX_DATABASE_URL: this.databaseUrl,
      SIGNALBOX_SECRET_KEY_FILE: path.join(folder, 'secret.key'),
      SIGNALBOX_RATE_LIMIT_PER_MINUTE: '100000',
      ...env,
    });
  }

  static async start(env: Record<string, string> = {}): Promise<AttackedServer> {
    const server = new AttackedServer(await mkdtemp(path.join(os.tmpdir(), 'signalbox-attack-')), await freePort(), env);
    server.program.start();
    try {
      await server.#answers();
      await server.administer(async (storage, auth) => {
        server.teamId = (await new TeamsService({ storage, clock: systemClock }).createTeam('Hostile')).id;
        server.apiKey = (await auth.createApiKey({ teamId: server.teamId, name: 'test', createdBy: null })).apiKey;
      });
      return server;
    } catch (error) {
      await server.close();
      throw error;
    }
  }

  /** Stops and starts it again: what was written beside it is read as at every start. */
  async restart(): Promise<void> {
    await this.program.stop();
    this.program.start();
    await this.#answers();
  }

  async #answers(): Promise<void> {
    await waitUntil('the server answers', async () => (await fetch(`${this.url}/healthz`).catch(() => undefined))?.ok === true, 30_000);
  }

  async close(): Promise<void> {
    await this.program.stop();
    await rm(this.folder, { recursive: true, force: true });
  }

  /** As an administrator at the machine. */
  async administer<T>(work: (storage: Storage, auth: CredentialsService) => Promise<T>): Promise<T> {
    const storage = await openStorage(this.databaseUrl, { log: silentLog });
    const auth = new CredentialsService({ storage, clock: systemClock, log: silentLog });
    try {
      return await work(storage, auth);
    } finally {
      await auth.stop();
      await storage.close();
    }
  }

  /** A new agent's credential. */
  async enrol(): Promise<string> {
    const { token } = await this.administer((_storage, auth) => auth.createEnrolToken({ teamId: this.teamId, siteId: null }));
    const answer = await fetch(`${this.url}/agent/v1/enrol`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ token, name: 'hostile' }),
    });
    const { agent_id: agentId, secret } = (await answer.json()) as { agent_id: string; secret: string };
    return `Bearer ${agentId}:${secret}`;
  }

  /** Dials as this agent; open when it returns. @throws Error `Unexpected server response: 429` and the like */
  async dial(authorization: string): Promise<WebSocket> {
    const ws = new WebSocket(`${this.url.replace('http', 'ws')}/agent/v1/tunnel`, 'signalbox.v1', { headers: { authorization } });
    await once(ws, 'open');
    ws.on('error', () => undefined);
    return ws;
  }

  /** A tunnel that is ready: hello, welcome and ready have passed. */
  async tunnel(authorization: string): Promise<WebSocket> {
    const ws = await this.dial(authorization);
    const journalId = randomUUID();
    const welcomed = once(ws, 'message');
    ws.send(JSON.stringify({ type: 'hello', versions: [1], agent_version: '1', journal_id: journalId, last_epoch: 0, routers: [] }));
    const { epoch } = JSON.parse(String((await welcomed)[0])) as { epoch: number };
    ws.send(JSON.stringify({ type: 'ready', epoch, journal_id: journalId, jobs: [] }));
    return ws;
  }

  call(method: string, route: string, body?: object, headers: Record<string, string> = {}): Promise<Response> {
    return fetch(this.url + route, {
      method,
      headers: { authorization: `Bearer ${this.apiKey}`, ...(body ? { 'content-type': 'application/json' } : {}), ...headers },
      ...(body ? { body: JSON.stringify(body) } : {}),
      signal: AbortSignal.timeout(60_000),
    });
  }

  /** Routers of the team, from the API. */
  async routers(): Promise<{ id: string; identity: string }[]> {
    return ((await (await this.call('GET', '/api/routers')).json()) as { data: { id: string; identity: string }[] }).data;
  }

  /** Resident memory of the server, bytes. */
  async memory(): Promise<number> {
    const status = await readFile(`/proc/${this.program.pid}/status`, 'utf8');
    return Number(/VmRSS:\s+(\d+)/.exec(status)?.[1] ?? 0) * 1024;
  }

  /** Size of the database with its log, bytes. */
  async diskBytes(): Promise<number> {
    const sizes = await Promise.all(
      ['signalbox.db', 'signalbox.db-wal'].map(async (file) => (await stat(path.join(this.folder, file)).catch(() => ({ size: 0 }))).size),
    );
    return sizes.reduce((sum, size) => sum + size, 0);
  }
}

/** An example of a router's inventory. */
export function inventoryOf(name: string, hardwareId = name): object {
  return {
    type: 'inventory',
    router: name,
    facts: {
      hardware_id: hardwareId,
      serial_number: hardwareId,
      software_id: null,
      identity: name,
      software_version: '7.18.2',
      model: null,
      board_name: 'CHR',
      hardware_board: false,
      architecture: null,
      time_zone: 'UTC',
      uptime: '1d',
      uptime_seconds: 86_400,
    },
  };
}

/** Sends as fast as the socket takes it, for `ms` or until the other side closes. @returns how many were sent */
export async function flood(ws: WebSocket, ms: number, send: (index: number) => void): Promise<number> {
  const until = Date.now() + ms;
  let sent = 0;
  while (Date.now() < until && ws.readyState === WebSocket.OPEN) {
    for (let i = 0; i < 500 && ws.readyState === WebSocket.OPEN; i += 1) send(sent++);
    while (ws.bufferedAmount > 1_000_000 && Date.now() < until && ws.readyState === WebSocket.OPEN) await pause(5);
    await pause(0);
  }
  return sent;
}

async function freePort(): Promise<number> {
  const server = net.createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, 'close');
  return port;
}
