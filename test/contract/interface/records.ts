/** Section 2 of the interface, row by row: every record with the fields and types that it is stated to have. */

export type FieldType =
  | 'string'
  | 'integer'
  | 'boolean'
  | 'number'
  | 'date-time'
  | 'date-time or null'
  | 'uuid'
  | 'array of uuid'
  /** A record of its own. */
  | { object: Fields }
  | { arrayOf: Fields };

export type Fields = Readonly<Record<string, FieldType>>;

const strings = (names: string): Fields => Object.fromEntries(names.split(', ').map((name) => [name, 'string']));

/** 2.1 */
const router: Fields = {
  id: 'string',
  identity: 'string',
  serial_number: 'string',
  software_version: 'string',
  software_id: 'string',
  has_pulse: 'boolean',
  uptime: 'string',
  last_seen: 'string',
  last_seen_from: 'string',
  hardware_board: 'boolean',
  model: 'string',
  board_name: 'string',
  last_seen_at: 'date-time',
  created_at: 'date-time',
};

/** 2.2: all are strings except `archived`. */
const oem: Fields = {
  ...strings(
    'category, slug, name, model, short_description, product_details, architecture, cpu, cpu_core_count, ' +
      'cpu_nominal_frequency, switch_chip_model, router_os_license, operating_system, ram, storage_size, storage_type, ' +
      'mtbf, tested_ambient_temperature, price, banner, thumbnail',
  ),
  archived: 'boolean',
};

/** 2.3 */
const metadata: Fields = {
  name: 'string',
  timezone: 'string',
  boardname: 'string',
  model: 'string',
  hardware_board: 'boolean',
  banner_img: 'string',
  thumbnail_img: 'string',
  slug: 'string',
  last_seen_from: 'string',
  lat: 'number',
  lng: 'number',
  tunnel_ip: 'string',
};

/** 2.4 */
const job: Fields = {
  id: 'string',
  token: 'string',
  idempotency_key: 'string',
  description: 'string',
  express_execute: 'boolean',
  needs_acknowledgement: 'boolean',
  make_backup: 'boolean',
  started_at: 'date-time',
  completed_at: 'date-time',
  failed_at: 'date-time',
  deleted_at: 'date-time',
  status: 'string',
};

/** 2.5 */
const receipt: Fields = { idempotency_key: 'string', request_id: 'string', target: 'string', notify_url: 'string', date: 'date-time' };

/** 2.6 */
const fault: Fields = {
  id: 'string',
  rid: 'string',
  message: 'string',
  severity: 'string',
  type: 'string',
  cause: 'string',
  created_at: 'date-time',
  resolved_at: 'date-time',
  duration: 'integer',
  status: 'string',
};

/** 2.7 */
const forward: Fields = {
  id: 'string',
  port: 'integer',
  revoked_early: 'boolean',
  allow_only_cidr: 'string',
  authorized_at: 'date-time or null',
  expires_at: 'date-time',
  expired: 'boolean',
  entry_point: 'string',
  dst_address: 'string',
  dst_port: 'integer',
  time_to_expire: 'string',
};

/** 2.8 */
const device: Fields = {
  mac_address: 'string',
  hostname: 'string',
  alias: 'string',
  manufacturer: 'string',
  site_id: 'uuid',
  current_ip: { object: { ip_address: 'string', interface: 'string', first_seen_at: 'date-time', last_seen_at: 'date-time' } },
  first_seen_at: 'date-time',
  last_seen_at: 'date-time',
};

const notifiable: Fields = { id: 'uuid', channel: 'string' };

/** 2.9 */
const group: Fields = {
  id: 'uuid',
  name: 'string',
  schedule_id: 'uuid',
  mute: 'string',
  recipients: 'array of uuid',
  notifiables: { arrayOf: notifiable },
  topics: 'array of uuid',
  sites: 'array of uuid',
  created_at: 'date-time',
  updated_at: 'date-time',
};

/** 2.10; `id` is present only in the input. */
const plant: Fields = { name: 'string', tag: 'string' };

/** 2.11 */
const plantError: Fields = { error: 'integer', message: 'string' };

export const RECORDS = { router, oem, metadata, job, receipt, fault, forward, device, notifiable, group, plant, plantError } as const;
export type RecordName = keyof typeof RECORDS;
