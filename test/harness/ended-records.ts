import { randomBytes } from 'node:crypto';
import { newId } from '../../server/platform/core/ids.ts';
import type { Storage } from '../../server/platform/storage/db.ts';
import type { TableName } from '../../server/platform/storage/tables.ts';
import type { ManyRouters } from './many-routers.ts';

/**
 * Records of every kind that the control plane makes by itself and deletes after a time, as they are when they have ended: of the usual size,
 * with what belongs to them. The test of retention and the measurement of sizes use the same ones.
 */

type Place = Pick<ManyRouters, 'teamId' | 'agents' | 'routers'>;
type Row = Record<string, unknown>;

export interface Kind {
  name: string;
  /** Rows of one record, parents first. */
  rows: (place: Place, at: number, index: number) => [TableName, Row][];
}

const HOUR_MS = 3_600_000;
/** Encrypted text does not compress. */
const sealed = (bytes: number): string => randomBytes(bytes).toString('base64');
const routerOf = ({ routers }: Place, index: number): string => routers[index % routers.length]!;
const agentOf = ({ agents }: Place, index: number): string => agents[index % agents.length]!;

function job({ teamId, routers }: Place, at: number, index: number): Row & { id: string } {
  return {
    id: newId(at),
    team_id: teamId,
    router_id: routers[index % routers.length]!,
    token: newId(at),
    request_id: newId(at),
    idempotency_key: newId(at),
    description: `Set the DNS servers of ${index}`,
    script: '/ip dns set servers=192.0.2.53,198.51.100.53 allow-remote-requests=yes\n:put [/ip dns print as-value]',
    notify_url: 'https://hooks.example.com/signalbox',
    phase: 'done',
    output: 'servers=192.0.2.53,198.51.100.53;allow-remote-requests=true;max-udp-packet-size=4096',
    created_at: at,
    expires_at: at + HOUR_MS,
    accepted_at: at,
    started_at: at,
    completed_at: at,
    version: 4,
    notified_version: 4,
  };
}

function jobWithUpdates(place: Place, at: number, index: number): [TableName, Row][] {
  const of = job(place, at, index);
  const updates = [1, 2].flatMap((seq): [TableName, Row][] => {
    const id = newId(at);
    const event = {
      id,
      team_id: place.teamId,
      job_id: of.id,
      seq,
      type: 'job.updated',
      origin: 'https://hooks.example.com',
      body: JSON.stringify({ job_id: of.id, status: 'completed', router_id: of['router_id'], at: new Date(at).toISOString() }),
      state: 'delivered',
      created_at: at,
      settled_at: at,
    };
    return [
      ['job_events', event],
      ['job_event_attempts', { id: newId(at), team_id: place.teamId, event_id: id, at, duration_ms: 41, status: 200 }],
    ];
  });
  return [['jobs', of], ...updates];
}

function backup(place: Place, at: number, index: number): [TableName, Row][] {
  const id = newId(at);
  const part = (name: string, size: number): [TableName, Row] => [
    'backup_parts',
    { backup_id: id, part: name, team_id: place.teamId, size, sha256: sealed(32), content: sealed(size), stored_at: at },
  ];
  return [
    [
      'backups',
      { id, team_id: place.teamId, router_id: routerOf(place, index), origin: 'request', state: 'stored', created_at: at, stored_at: at },
    ],
    part('export', 6000),
    part('backup', 40_000),
  ];
}

function forward(place: Place, at: number, index: number): [TableName, Row][] {
  const id = newId(at);
  const row = {
    id,
    team_id: place.teamId,
    router_id: routerOf(place, index),
    port: 20_000 + (index % 40_000),
    allow_only_cidr: '203.0.113.7/32',
    dst_address: '192.168.88.10',
    dst_port: 443,
    entry_point: 'box.example.net:20123',
    channel_token_hash: sealed(32),
    way: 'ssh',
    created_by: newId(at),
    created_at: at,
    authorized_at: at,
    expires_at: at + HOUR_MS,
    closed_at: at,
    connection_count: 10,
  };
  const connections = Array.from({ length: 10 }, (): [TableName, Row] => [
    'forward_connections',
    {
      id: newId(at),
      team_id: place.teamId,
      forward_id: id,
      source: '203.0.113.7:51234',
      opened_at: at,
      closed_at: at,
      bytes_in: 5120,
      bytes_out: 90_112,
      ended_by: 'client',
    },
  ]);
  return [['forwards', row], ...connections];
}

function terminal(place: Place, at: number, index: number): [TableName, Row][] {
  const id = newId(at);
  const row = {
    id,
    team_id: place.teamId,
    router_id: routerOf(place, index),
    agent_id: agentOf(place, index),
    level: 'read',
    reason: `ticket ${index}: the customer has no address`,
    opened_by: newId(at),
    opened_by_kind: 'user',
    source: '203.0.113.7',
    created_at: at,
    opened_at: at,
    ended_at: at,
    end_reason: 'left',
    recording_chars: 60_000,
    recording_chunks: 2,
  };
  const parts = [0, 1].map((number): [TableName, Row] => [
    'terminal_recordings',
    { terminal_id: id, number, team_id: place.teamId, content: sealed(6000), stored_at: at },
  ]);
  return [['terminals', row], ...parts];
}

function campaign(place: Place, at: number, index: number): [TableName, Row][] {
  const id = newId(at);
  const row = {
    id,
    team_id: place.teamId,
    request_id: newId(at),
    idempotency_key: newId(at),
    created_by: newId(at),
    description: `DNS servers, part ${index}`,
    script: '/ip dns set servers=192.0.2.53',
    target_count: place.routers.length,
    state: 'completed',
    created_at: at,
    finished_at: at,
  };
  const targets = place.routers.map((routerId, position): [TableName, Row] => [
    'campaign_targets',
    {
      campaign_id: id,
      team_id: place.teamId,
      router_id: routerId,
      position,
      status: 'completed',
      job_version: 4,
      output_hash: sealed(32),
      settled_at: at,
    },
  ]);
  return [['campaigns', row], ...targets];
}

function thread(place: Place, groupId: string, at: number, index: number): [TableName, Row][] {
  const id = newId(at);
  const router = { router_id: routerOf(place, index), agent_id: agentOf(place, index) };
  const fault = newId(at);
  const data = JSON.stringify({ type: 'router_offline', message: 'The router is offline', cause: 'it does not answer its agent' });
  const row = {
    id,
    team_id: place.teamId,
    group_id: groupId,
    key: `router ${routerOf(place, index)} ${index}`,
    kind: 'fault.router_offline',
    severity: 'critical',
    ...router,
    state: 'resolved',
    first_at: at,
    ended_at: at,
    openings: '[]',
    muted: 0,
    told_open: 0,
    open_count: 0,
    created_at: at,
    updated_at: at,
    closed_at: at,
  };
  const messages = ['open', 'resolve'].flatMap((kind): [TableName, Row][] => {
    const message = {
      id: newId(at),
      team_id: place.teamId,
      thread_id: id,
      group_id: groupId,
      recipient_type: 'person',
      recipient_id: newId(at),
      channel: 'email',
      kind,
      state: 'sent',
      bucket: 'email',
      created_at: at,
      settled_at: at,
      subject: `gw-${index} is offline`,
      address: 'a…@example.net',
    };
    const attempt = {
      id: newId(at),
      team_id: place.teamId,
      message_id: message.id,
      at,
      duration_ms: 210,
      outcome: 'sent',
      detail: '250 2.0.0 Ok',
    };
    return [
      ['messages', message],
      ['message_attempts', attempt],
    ];
  });
  const item = {
    thread_id: id,
    record_id: fault,
    team_id: place.teamId,
    kind: 'fault.router_offline',
    severity: 'critical',
    ...router,
    data,
  };
  return [['threads', row], ['thread_items', { ...item, opened_at: at, resolved_at: at }], ...messages];
}

function device(place: Place, at: number, index: number): [TableName, Row][] {
  const id = newId(at);
  const mac = `02:00:${[24, 16, 8, 0].map((shift) => ((index >> shift) & 255).toString(16).padStart(2, '0').toUpperCase()).join(':')}`;
  const row = {
    id,
    team_id: place.teamId,
    place: routerOf(place, index),
    mac,
    hostname: `till-${index}`,
    manufacturer: 'Apple, Inc.',
    first_seen_at: at,
  };
  const sighting = {
    device_id: id,
    router_id: routerOf(place, index),
    ip_address: `192.168.88.${index % 250}`,
    interface: 'bridge',
    ip_first_seen_at: at,
    last_seen_at: at,
    present: 0,
  };
  return [
    ['devices', row],
    ['device_sightings', sighting],
  ];
}

const spread = (name: string, value: number): Row => ({
  [`${name}_count`]: 60,
  [`${name}_sum`]: 60 * value,
  [`${name}_min`]: value - 9,
  [`${name}_max`]: value + 30,
});
const MEASURED = {
  ...spread('cpu', 64),
  ...spread('memory', 413),
  ...spread('disk', 731),
  ...spread('celsius', 384),
  ...spread('volts', 2402),
};
const hourStep = (at: number, index: number): Row => ({
  span_s: 3600,
  at: at - (at % HOUR_MS) - index * HOUR_MS,
  part: 1_000_000_007 + index,
});

export const ENDED_RECORDS: readonly Kind[] = [
  {
    name: 'an entry of the audit log',
    rows: (place, at, index) => [
      [
        'audit_log',
        {
          id: newId(at),
          team_id: place.teamId,
          at,
          actor_kind: 'api_key',
          actor_id: newId(at),
          source: '203.0.113.7',
          action: 'POST /api/synchronous/:router_id',
          target: `/api/synchronous/${routerOf(place, index)}`,
          router_id: routerOf(place, index),
        },
      ],
    ],
  },
  {
    name: 'a resolved fault',
    rows: (place, at, index) => [
      [
        'faults',
        {
          id: newId(at),
          team_id: place.teamId,
          router_id: routerOf(place, index),
          type: 'router_offline',
          severity: 'critical',
          message: 'The router is offline',
          cause: 'it does not answer its agent',
          created_at: at,
          resolved_at: at,
          updated_at: at,
        },
      ],
    ],
  },
  { name: 'a job with two delivered updates', rows: jobWithUpdates },
  { name: 'a backup with two files of 46 kB together', rows: backup },
  { name: 'a closed forward with ten connections', rows: forward },
  { name: 'an ended terminal with a recording of 12 kB', rows: terminal },
  { name: 'an ended campaign, with a row for each router', rows: campaign },
  { name: 'a device that one router sees', rows: device },
  {
    name: 'a past state of a router',
    rows: (place, at, index) => [
      [
        'router_state_changes',
        { id: newId(at), team_id: place.teamId, router_id: routerOf(place, index), state: 'answering', since: at, until: at },
      ],
    ],
  },
  {
    name: 'a past session of an agent',
    rows: (place, at, index) => [
      [
        'agent_sessions',
        {
          id: newId(at),
          team_id: place.teamId,
          agent_id: agentOf(place, index),
          epoch: index,
          opened_at: at,
          ready_at: at,
          closed_at: at,
          address: '198.51.100.177',
          agent_version: '0.1.0',
          ended_by: 'network',
          round_trip_min_us: 26_123,
          round_trip_p50_us: 41_234,
          round_trip_p95_us: 140_345,
        },
      ],
    ],
  },
  {
    name: 'an hour of link quality',
    rows: (place, at, index) => [
      [
        'agent_link_steps',
        {
          agent_id: agentOf(place, index),
          ...hourStep(at, index),
          answered: 160,
          lost: 1,
          least_us: 26_000,
          most_us: 140_000,
          counts: '40:27,41:27,42:27,43:27,47:27,52:25',
        },
      ],
    ],
  },
  {
    name: 'an hour of health',
    rows: (place, at, index) => [['router_health_steps', { router_id: routerOf(place, index), ...hourStep(at, index), ...MEASURED }]],
  },
  {
    name: 'a notice',
    rows: (place, at, index) => [
      [
        'notices',
        {
          id: newId(at),
          team_id: place.teamId,
          kind: 'fault.router_offline',
          phase: 'open',
          severity: 'critical',
          key: `router ${routerOf(place, index)}`,
          record_id: newId(at),
          router_id: routerOf(place, index),
          at,
          data: JSON.stringify({ message: 'The router is offline', cause: 'it does not answer its agent' }),
          stored_at: at,
          routed_at: at,
        },
      ],
    ],
  },
];

/** An ended thread with a record and two messages; its group has to exist. */
export function endedThread(groupId: string): Kind {
  return { name: 'an ended thread with two messages', rows: (place, at, index) => thread(place, groupId, at, index) };
}

/** Rows of one insert: SQLite takes 32,766 values, and a job has 35. */
const ROWS_OF_ONE_INSERT = 500;

/**
 * Stores records of a kind, one a millisecond from `at` on. Columns that must have a value and are not named have 1 or `x`.
 * @param first number of the first one: what must be unique follows from the numbers
 * @returns rows stored, by table
 */
export async function storeRecords(
  { db }: Storage,
  { rows }: Kind,
  place: Place,
  { at, count, first = 0 }: { at: number; count: number; first?: number },
): Promise<Map<TableName, number>> {
  const tables = new Map((await db.introspection.getTables()).map((table) => [table.name, table.columns]));
  const stored = new Map<TableName, number>();
  const waiting = new Map<TableName, Row[]>();
  const flush = async (): Promise<void> => {
    for (const [table, some] of waiting) {
      for (let from = 0; from < some.length; from += ROWS_OF_ONE_INSERT)
        await db
          .insertInto(table)
          .values(some.slice(from, from + ROWS_OF_ONE_INSERT))
          .execute();
      stored.set(table, (stored.get(table) ?? 0) + some.length);
    }
    waiting.clear();
  };
  for (let index = 0; index < count; index += 1) {
    for (const [table, row] of rows(place, at + index, first + index)) {
      const needed = tables.get(table)!.filter((column) => !column.isNullable && !column.hasDefaultValue && !(column.name in row));
      const filled = Object.fromEntries(needed.map(({ name, dataType }) => [name, /text|char/i.test(dataType) ? 'x' : 1]));
      waiting.set(table, [...(waiting.get(table) ?? []), { ...filled, ...row }]);
    }
    if (index % 100 === 99) await flush();
  }
  await flush();
  return stored;
}
