import type { FieldType, RecordName } from './records.ts';

/** Sections 4, 5, 7 and 8 of the interface, row by row. */

export interface BodyField {
  type: FieldType;
  /** Undefined where the interface does not say. */
  required?: boolean;
  min?: number;
  max?: number;
  maxLength?: number;
}

export interface Endpoint {
  number: number;
  method: 'GET' | 'POST' | 'PUT';
  path: string;
  /** What the answer is: `{status, data: record}`, `{status, data: [record]}`, or the record itself. */
  answer: { shape: 'wrapped' | 'wrapped list' | 'bare'; record: RecordName | 'any' };
  /** Missing: no body. */
  body?: Readonly<Record<string, BodyField>>;
  /** Path parameters that are uuids. */
  uuids?: readonly string[];
  /** Served at the demonstration's own address. */
  isSandbox?: boolean;
}

const routerId = { uuids: ['router_id'] };

export const ENDPOINTS: readonly Endpoint[] = [
  { number: 1, method: 'GET', path: '/api/routers', answer: { shape: 'wrapped list', record: 'router' } },
  { number: 2, method: 'GET', path: '/api/routers/{router_id}/oem', answer: { shape: 'wrapped', record: 'oem' }, ...routerId },
  { number: 3, method: 'GET', path: '/api/routers/{router_id}/metadata', answer: { shape: 'wrapped', record: 'metadata' }, ...routerId },
  { number: 4, method: 'GET', path: '/api/routers/{router_id}/faults', answer: { shape: 'wrapped list', record: 'fault' }, ...routerId },
  { number: 5, method: 'GET', path: '/api/routers/{router_id}/jobs', answer: { shape: 'wrapped list', record: 'job' }, ...routerId },
  {
    number: 6,
    method: 'POST',
    path: '/api/routers/{router_id}/transient-forwarding',
    answer: { shape: 'bare', record: 'forward' },
    ...routerId,
    body: {
      expire_after_minutes: { type: 'integer', required: true, min: 10, max: 1440 },
      dst_port: { type: 'integer', required: true, min: 1, max: 65_535 },
      dst_address: { type: 'string', required: true },
      allow_from: { type: 'string', required: true },
    },
  },
  {
    number: 7,
    method: 'GET',
    path: '/api/routers/{router_id}/transient-forwarding/{id}',
    answer: { shape: 'bare', record: 'forward' },
    uuids: ['router_id', 'id'],
  },
  {
    number: 8,
    method: 'POST',
    path: '/api/asynchronous/{router_id}',
    answer: { shape: 'wrapped', record: 'receipt' },
    ...routerId,
    body: {
      description: { type: 'string', required: true, maxLength: 100 },
      script: { type: 'string', required: true, maxLength: 2000 },
      make_backup: { type: 'boolean', required: true },
      express_execute: { type: 'boolean', required: true },
      needs_acknowledgement: { type: 'boolean', required: true },
      notify_url: { type: 'string', required: false },
    },
  },
  {
    number: 9,
    method: 'POST',
    path: '/api/synchronous/{router_id}',
    answer: { shape: 'wrapped list', record: 'any' },
    ...routerId,
    body: { command: { type: 'string' }, parameters: { type: 'string' } },
  },
  {
    number: 10,
    method: 'PUT',
    path: '/arp/devices/{macAddress}',
    answer: { shape: 'bare', record: 'device' },
    body: { alias: { type: 'string' } },
  },
  {
    number: 11,
    method: 'PUT',
    path: '/{group}',
    answer: { shape: 'bare', record: 'group' },
    uuids: ['group'],
    body: {
      name: { type: 'string' },
      schedule_id: { type: 'uuid' },
      mute: { type: 'string' },
      recipients: { type: 'array of uuid' },
      topics: { type: 'array of uuid' },
      sites: { type: 'array of uuid' },
      notifiables: { type: { arrayOf: { id: 'uuid', channel: 'string' } } },
    },
  },
  {
    number: 12,
    method: 'POST',
    path: '/plants',
    answer: { shape: 'bare', record: 'plant' },
    body: { id: { type: 'integer', required: true }, name: { type: 'string', required: true }, tag: { type: 'string', required: false } },
    isSandbox: true,
  },
];

/** Section 5.1: `<token_id>:<team_id>:<secret>`, the secret 62 characters (also section 8). */
export const API_KEY = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}:[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}:[A-Za-z0-9]{62}$/;

/** Sections 7 and 8: requests a minute with one key; the next one is 429. */
export const REQUESTS_PER_MINUTE = 60;

/** Section 8: values of one field of one endpoint that are just inside, and just outside. */
export interface LimitRow {
  limit: string;
  endpoint: number;
  field: string;
  inside: readonly unknown[];
  outside: readonly unknown[];
}

const characters = (count: number): string => 'x'.repeat(count);

export const LIMITS: readonly LimitRow[] = [
  {
    limit: 'expire_after_minutes: 10 to 1440',
    endpoint: 6,
    field: 'expire_after_minutes',
    inside: [10, 1440],
    outside: [9, 1441, 10.5, 0, -10],
  },
  { limit: 'dst_port: 1 to 65535', endpoint: 6, field: 'dst_port', inside: [1, 65_535], outside: [0, 65_536, 1.5, -1] },
  {
    limit: 'allow_from prefix length: /32 to /24, or an address',
    endpoint: 6,
    field: 'allow_from',
    inside: ['198.51.100.7', '198.51.100.7/32', '198.51.100.0/24', '198.51.100.128/25'],
    outside: ['198.51.100.0/23', '198.51.0.0/16', '0.0.0.0/0', '198.51.100.7/33', 'anywhere', ''],
  },
  {
    limit: 'description: at most 100 characters',
    endpoint: 8,
    field: 'description',
    inside: [characters(100), 'é'.repeat(100)],
    outside: [characters(101)],
  },
  {
    limit: 'script: at most 2000 characters',
    endpoint: 8,
    field: 'script',
    inside: [`#${characters(1999)}`],
    outside: [`#${characters(2000)}`],
  },
];
