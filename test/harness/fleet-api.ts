import { once } from 'node:events';
import http from 'node:http';
import type { AddressInfo } from 'node:net';

/** An invented fleet behind a stand-in for the HTTP interface: for what commands print, at any size. */

export const NOW = Date.parse('2031-05-01T08:30:00.000Z');
export const FLEET_KEY = `01900000-0000-7000-8000-000000000001:01900000-0000-7000-8000-000000000002:${'s'.repeat(62)}`;

const NAMES = ['edge-berlin', '東京本社-ルータ', 'gw-🚀-depot', 'Zürich Löwenstraße 17', `warehouse-${'long-'.repeat(12)}name`];
const ago = (minutes: number): string => new Date(NOW - minutes * 60_000).toISOString();
const id = (kind: number, n: number): string => `019${kind}0000-0000-7000-8000-${String(n).padStart(12, '0')}`;

export interface FleetOptions {
  routers: number;
  /** How many of them do not answer. */
  down?: number;
  /** Faults, running jobs, forwards and campaigns: so many of each. */
  work?: number;
  /** Names of routers, descriptions and messages instead of the usual ones. */
  words?: string;
}

interface Invented {
  routers: Record<string, unknown>[];
  faults: Record<string, unknown>[];
  jobs: Record<string, unknown>[];
  forwards: Record<string, unknown>[];
  campaigns: Record<string, unknown>[];
  history: Record<string, unknown>[];
  overview: Record<string, unknown>;
}

export function inventFleet({ routers: count, down = 0, work = 0, words }: FleetOptions): Invented {
  const name = (n: number): string => words ?? (n < NAMES.length ? NAMES[n]! : `gw-${n}`);
  const routers = Array.from({ length: count }, (_, n) => ({
    id: id(1, n),
    identity: name(n),
    state: n >= down ? 'answering' : n % 3 === 0 ? 'not_answering' : 'agent_away',
    state_since: ago(n >= down ? 60_000 : 2 + n * 7),
    state_reason: n >= down ? null : n % 3 === 0 ? 'login_refused' : 'silence',
    agent_id: id(6, Math.floor(n / 100)),
    agent_name: words ?? `agent-${Math.floor(n / 100)}`,
    model: words ?? 'RB4011iGS+',
    board_name: 'board',
    software_version: '7.18.2',
    last_seen_from: '203.0.113.7',
  }));
  const notAnswering = routers.filter(({ state }) => state === 'not_answering').length;
  const invented = (kind: number, make: (n: number) => Record<string, unknown>): Record<string, unknown>[] =>
    Array.from({ length: work }, (_, n) => ({
      id: id(kind, n),
      router_id: id(1, n % count),
      rid: id(1, n % count),
      created_at: ago(n),
      ...make(n),
    }));
  return {
    routers,
    faults: invented(2, (n) => ({
      severity: ['info', 'warning', 'critical'][n % 3],
      type: 'router_offline',
      message: words ?? 'the router has not answered since noon',
      status: 'open',
    })),
    jobs: invented(3, () => ({ status: 'running', started_at: ago(1), description: words ?? 'Upgrade the firmware to 7.18.2' })),
    forwards: invented(4, (n) => ({
      entry_point: 'forward.example.net',
      port: 20_000 + n,
      dst_address: '192.168.88.10',
      dst_port: 22,
      allow_only_cidr: '198.51.100.7/32',
      time_to_expire: '2 hours from now',
      expires_at: ago(-125),
    })),
    campaigns: invented(5, () => ({
      state: 'running',
      description: words ?? 'Name every uplink',
      target_count: 40,
      counts: { waiting: 20, pending: 2, running: 3, completed: 10, failed: 4, expired: 0, unknown: 1, deleted: 0, skipped: 0 },
    })),
    history: Array.from({ length: 60 }, (_, n) => ({
      id: id(7, n),
      kind: n % 2 === 0 ? 'state' : 'action',
      at: ago(n * 10),
      until: n === 0 ? null : ago(n * 10 - 10),
      status: n % 2 === 0 ? 'not_answering' : '200',
      title: words ?? (n % 2 === 0 ? 'not_answering: login_refused' : 'PATCH /api/routers/:router_id/transient-forwarding/:id'),
      by: words ?? (n % 2 === 0 ? null : 'admin-of-the-east@example.net'),
      link: null,
    })),
    overview: {
      routers: { answering: count - down, not_answering: notAnswering, agent_away: down - notAnswering, never_seen: 0 },
      agents: { connected: Math.ceil(count / 100), away: down > 0 ? 1 : 0, unseen: 0 },
      open_faults: { critical: Math.floor(work / 3), warning: Math.floor((work + 1) / 3), info: Math.ceil(work / 3) },
      jobs_24h: { pending: 4, running: work, completed: 120, failed: 2, deleted: 0, expired: 0, unknown: 1 },
      jobs_24h_is_exact: true,
      open_forwards: work,
      open_terminals: work,
      running_campaigns: work,
      common_causes:
        down < 2
          ? []
          : [{ kind: 'agent', value: id(6, 1), name: words ?? 'gw-depot', routers_away: down, routers: down, since: ago(2 + down * 7) }],
    },
  };
}

/** Answers the paths that the commands read; everything else is 404. */
export class FleetApi {
  readonly requests: string[] = [];
  fleet: Invented;
  /** Answers before the usual one: a status and headers, once each. */
  readonly refusals: { status: number; headers: Record<string, string> }[] = [];
  readonly streams = new Set<http.ServerResponse>();
  readonly #server = http.createServer((request, response) => this.#answer(request, response));

  private constructor(fleet: Invented) {
    this.fleet = fleet;
  }

  static async start(options: FleetOptions): Promise<FleetApi> {
    const api = new FleetApi(inventFleet(options));
    api.#server.listen(0, '127.0.0.1');
    await once(api.#server, 'listening');
    return api;
  }

  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  /** Sends an event to every open stream. */
  publish(type: string, data: Record<string, unknown>): void {
    for (const stream of this.streams)
      stream.write(`id: x-1\nevent: ${type}\ndata: ${JSON.stringify({ at: new Date(NOW).toISOString(), ...data })}\n\n`);
  }

  async close(): Promise<void> {
    this.#server.close();
    this.#server.closeAllConnections();
    await once(this.#server, 'close');
  }

  #answer(request: http.IncomingMessage, response: http.ServerResponse): void {
    const { pathname, searchParams } = new URL(request.url!, 'http://x');
    this.requests.push(request.url!);
    const headers = { 'content-type': 'application/json', date: new Date(NOW).toUTCString(), 'x-event-id': 'x-0' };
    const refusal = this.refusals.shift();
    if (refusal) {
      response.writeHead(refusal.status, { 'content-type': 'application/problem+json', ...refusal.headers }).end('{"code":"rate_limited"}');
      return;
    }
    if (pathname === '/api/events') {
      response.writeHead(200, { 'content-type': 'text/event-stream' }).write(': here\n\n');
      this.streams.add(response.on('close', () => this.streams.delete(response)));
      return;
    }
    const data = this.#dataOf(pathname, searchParams);
    if (data === undefined) response.writeHead(404, headers).end('{"code":"not_found","message":"no such path"}');
    else response.writeHead(200, headers).end(JSON.stringify({ status: 'success', data }));
  }

  #dataOf(path: string, query: URLSearchParams): unknown {
    const { routers, faults, jobs, forwards, campaigns, overview } = this.fleet;
    if (path.endsWith('/history')) return this.fleet.history.slice(0, Number(query.get('limit')));
    const states = query.getAll('state');
    const limit = Number(query.get('limit') ?? Infinity);
    const matching = states.length === 0 ? routers : routers.filter(({ state }) => states.includes(state as string));
    const sorted = query.get('sort') === '-state_since' ? matching.toSorted(latestFirst) : matching;
    const lists: Record<string, unknown> = {
      '/api/overview': overview,
      '/api/routers': sorted.slice(0, limit),
      '/api/faults': faults.slice(0, limit),
      '/api/jobs': jobs.slice(0, limit),
      '/api/transient-forwarding': forwards.slice(0, limit),
      '/api/campaigns': campaigns.slice(0, limit),
    };
    return lists[path];
  }
}

function latestFirst(one: Record<string, unknown>, other: Record<string, unknown>): number {
  return String(other['state_since']).localeCompare(String(one['state_since']));
}
