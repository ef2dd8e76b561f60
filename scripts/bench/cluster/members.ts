import { spawn } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { Client } from 'pg';
import { NatsServer, hasNats } from '../../../test/harness/nats-server.ts';
import { findPostgres, postgresUrl, startPostgres } from '../../../test/harness/postgres-server.ts';
import type { PostgresServer } from '../../../test/harness/postgres-server.ts';
import { balancerConfig } from '../../cluster/balancer.ts';
import { findInstalled } from '../../cluster/installed.ts';
import type { ClusterPorts } from '../../cluster/ports.ts';
import type { Credentials } from '../../fleet/enrol.ts';
import { fillDatabase } from '../fleet/filled.ts';
import { freePort, Served } from '../fleet/served.ts';

const BALANCER_WITHIN_MS = 20_000;
/** Each node gets this many entry ports. */
const ENTRY_PORTS = 500;
const FIRST_ENTRY_PORT = 30_000;

export interface MembersOptions {
  nodes: number;
  /** Enrolled, and never connected. */
  agents: number;
  env?: Record<string, string>;
}

/** Control planes as processes on one PostgreSQL and one nats-server, behind HAProxy. */
export class BenchMembers {
  readonly nodes: Served[] = [];
  /** Of the balancer. */
  url = '';
  apiKey = '';
  credentials: Credentials[] = [];
  /** Of each node. */
  entryPorts: readonly { first: number; last: number }[] = [];
  /** SIGNALBOX_NODE_PUBLIC_URL of each node. */
  publicUrls: readonly string[] = [];
  readonly #folder: string;
  readonly #postgres: PostgresServer;
  readonly #nats: NatsServer;
  #balancer: ChildProcess | undefined;

  private constructor(parts: { folder: string; postgres: PostgresServer; nats: NatsServer }) {
    this.#folder = parts.folder;
    this.#postgres = parts.postgres;
    this.#nats = parts.nats;
  }

  /** @throws Error that names the Debian packages that are missing */
  static async start(options: MembersOptions): Promise<BenchMembers> {
    findInstalled();
    if (!hasNats()) throw new Error("Debian's nats-server is not installed");
    const folder = await mkdtemp(path.join(os.tmpdir(), 'signalbox-bench-cluster-'));
    const postgres = await startPostgres(findPostgres()!, ['shared_preload_libraries=pg_stat_statements']);
    const nats = await NatsServer.start();
    const members = new BenchMembers({ folder, postgres, nats });
    try {
      await members.#begin(options);
      return members;
    } catch (error) {
      await members.close();
      throw error;
    }
  }

  get folder(): string {
    return this.#folder;
  }

  get busUrl(): string {
    return this.#nats.url;
  }

  get databaseUrl(): string {
    return postgresUrl(this.#postgres.socketFolder, 'postgres');
  }

  async #begin({ nodes, agents, env = {} }: MembersOptions): Promise<void> {
    const filled = await fillDatabase(this.databaseUrl, agents);
    this.apiKey = filled.apiKey;
    this.credentials = filled.credentials;
    await this.query('create extension pg_stat_statements');
    const ports = await portsFor(nodes);
    this.url = `http://127.0.0.1:${ports.api}`;
    this.entryPorts = ports.nodes.map(({ forwards }) => forwards);
    this.publicUrls = ports.nodes.map(({ own }) => `http://127.0.0.1:${own}`);
    for (const [index, { api, forwards }] of ports.nodes.entries()) {
      const node = await Served.start({
        folder: this.#folder,
        databaseUrl: this.databaseUrl,
        env: {
          SIGNALBOX_LISTEN: `127.0.0.1:${api}`,
          SIGNALBOX_PUBLIC_URL: this.url,
          SIGNALBOX_NODE_PUBLIC_URL: this.publicUrls[index]!,
          SIGNALBOX_BUS_URL: this.#nats.url,
          SIGNALBOX_TRUST_PROXY: '127.0.0.1',
          // The balancer looks every second, twice.
          SIGNALBOX_DRAIN_SECONDS: '3',
          SIGNALBOX_FORWARD_HOST: '127.0.0.1',
          SIGNALBOX_FORWARD_LISTEN: '127.0.0.1',
          SIGNALBOX_FORWARD_PORTS: `${forwards.first}-${forwards.last}`,
          ...env,
        },
      });
      this.nodes[index] = node;
    }
    await this.#balance(ports);
  }

  async #balance(ports: ClusterPorts): Promise<void> {
    const file = path.join(this.#folder, 'haproxy.cfg');
    const names = ports.nodes.map((_, index) => `node-${index + 1}`);
    await writeFile(file, balancerConfig(ports, names));
    const words = ['--pdeathsig', 'KILL', findInstalled().haproxy, '-db', '-f', file];
    this.#balancer = spawn('setpriv', words, { stdio: ['ignore', 'ignore', 'ignore'] });
    const giveUpAt = performance.now() + BALANCER_WITHIN_MS;
    while (!(await isReady(this.url))) {
      if (performance.now() > giveUpAt) throw new Error('HAProxy does not lead to a control plane');
      await pause(100);
    }
  }

  /** @returns the first column of the first row, as text */
  async query(statement: string): Promise<string> {
    const client = new Client({ connectionString: this.databaseUrl });
    await client.connect();
    try {
      const { rows } = await client.query<Record<string, unknown>>(statement);
      return String(Object.values(rows[0] ?? {})[0]);
    } finally {
      await client.end();
    }
  }

  /** @throws Error with the answer when it is none of success */
  async call<T>(method: string, route: string, body?: object, { url = this.url } = {}): Promise<T> {
    const answer = await fetch(url + route, {
      method,
      headers: { authorization: `Bearer ${this.apiKey}`, 'content-type': 'application/json' },
      ...(body ? { body: JSON.stringify(body) } : {}),
      signal: AbortSignal.timeout(60_000),
    });
    const text = await answer.text();
    if (!answer.ok) throw new Error(`${method} ${route}: ${answer.status} ${text.slice(0, 300)}`);
    return (text === '' ? undefined : JSON.parse(text)) as T;
  }

  async close(): Promise<void> {
    await Promise.all(this.nodes.map((node) => node.kill()));
    if (this.#balancer?.exitCode === null) {
      const exited = once(this.#balancer, 'exit');
      this.#balancer.kill('SIGKILL');
      await exited;
    }
    await this.#nats.close();
    await this.#postgres.stop();
    await rm(this.#folder, { recursive: true, force: true });
  }
}

export async function isReady(url: string): Promise<boolean> {
  return fetch(`${url}/readyz`, { signal: AbortSignal.timeout(2000) }).then(
    (answer) => answer.ok,
    () => false,
  );
}

async function portsFor(nodes: number): Promise<ClusterPorts> {
  const [api, sandbox] = [await freePort(), await freePort()];
  const each: ClusterPorts['nodes'][number][] = [];
  for (let index = 0; index < nodes; index += 1) {
    const first = FIRST_ENTRY_PORT + index * ENTRY_PORTS;
    const forwards = { first, last: first + ENTRY_PORTS - 1 };
    each.push({ api: await freePort(), sandbox: await freePort(), own: await freePort(), forwards });
  }
  return { api, sandbox, nodes: each, routers: [], mail: 0, postgres: 0, nats: 0 };
}
