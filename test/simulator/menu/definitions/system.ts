import { formatDate, formatDuration, formatTime } from '../../formats.ts';
import { cpuName } from '../../models.ts';
import type { RouterState } from '../../state.ts';
import type { CustomCommand, MenuDefinition, ProposedChange } from '../definition.ts';
import { monitor } from '../monitoring.ts';
import { Trap } from '../types.ts';
import { counter, flag, readOnly, text } from './parts.ts';
import { resetConfiguration } from './upkeep.ts';

const CHANNELS: readonly (readonly [string, string])[] = [
  ['7.0', 'stable'],
  ['6.0', 'long-term'],
];

function versionText(router: RouterState): string {
  const channel = CHANNELS.find(([since]) => router.version.atLeast(since))?.[1] ?? 'stable';
  return `${router.version.text} (${channel})`;
}

/** `Dec/20/2023 08:41:00` up to 7.15, ISO from 7.16; the day itself is made up. */
function buildTime(router: RouterState): string {
  return router.version.atLeast('7.16') ? '2025-02-28 10:00:53' : 'Dec/20/2023 08:41:00';
}

function resources(router: RouterState): [string, string][] {
  const { model } = router;
  const free = Math.max(0, Math.floor(model.totalDisk * 0.3) - router.files.usedBytes());
  const common: [string, string][] = [
    ['uptime', formatDuration(Math.floor(router.clock.uptimeMs() / 1000) * 1000)],
    ['version', versionText(router)],
    ['build-time', buildTime(router)],
    ['factory-software', model.factory],
    ['free-memory', String(Math.floor(model.totalMemory * 0.6))],
    ['total-memory', String(model.totalMemory)],
    ['cpu', cpuName(model, router.version.major)],
    ['cpu-count', String(model.cpuCount)],
    ['cpu-frequency', model.cpuFrequency],
    ['cpu-load', '2'],
    ['free-hdd-space', router.faults.diskFull ? '0' : String(free)],
    ['total-hdd-space', String(model.totalDisk)],
    ['write-sect-since-reboot', '584'],
    ['write-sect-total', '572180'],
  ];
  // A test loads the router by setting values on the table.
  const set = router.table('/system/resource').items[0]?.values;
  const blocks: [string, string][] = model.model === undefined ? [] : [['bad-blocks', '0']];
  const board: [string, string][] = [
    ['architecture-name', model.architecture],
    ['board-name', model.boardName],
    ['platform', 'MikroTik'],
  ];
  return [...common, ...blocks, ...board].map(([name, value]) => [name, set?.get(name) ?? value]);
}

const RESOURCE_NAMES = [
  'uptime',
  'version',
  'build-time',
  'factory-software',
  'free-memory',
  'total-memory',
  'cpu',
  'cpu-count',
  'cpu-frequency',
  'cpu-load',
  'free-hdd-space',
  'total-hdd-space',
  'write-sect-since-reboot',
  'write-sect-total',
  'bad-blocks',
  'architecture-name',
  'board-name',
  'platform',
];

const monitorResource = monitor([], ({ router }) => {
  const values = new Map(resources(router));
  return [
    new Map([
      ['cpu-used', values.get('cpu-load') ?? '0'],
      ['free-memory', values.get('free-memory') ?? '0'],
    ]),
  ];
});

function routerboard({ model, version, serialNumber }: RouterState): [string, string][] {
  if (model.model === undefined) return [['routerboard', 'false']];
  const board: [string, string][] = version.major >= 7 ? [['board-name', model.boardName]] : [];
  return [
    ['routerboard', 'true'],
    ...board,
    ['model', model.model],
    ['serial-number', serialNumber],
    ['firmware-type', model.firmwareType],
    ['factory-firmware', model.factory],
    ['current-firmware', version.text],
    ['upgrade-firmware', version.text],
  ];
}

function license({ model, softwareId }: RouterState): [string, string][] {
  if (model.boardName === 'CHR')
    return [
      ['system-id', softwareId],
      ['level', model.licenseLevel],
    ];
  return [
    ['software-id', softwareId],
    ['nlevel', model.licenseLevel],
    ['features', ''],
  ];
}

/** What a v6 record may have, in print order; each board has some of them. */
const SENSOR_NAMES = [
  'state',
  'voltage',
  'current',
  'power-consumption',
  'poe-out-consumption',
  'temperature',
  'cpu-temperature',
  'board-temperature1',
  'board-temperature2',
  'switch-temperature',
  'phy-temperature',
  'sfp-temperature',
  'fan-mode',
  'fan-state',
  'fan1-state',
  'fan2-state',
  'fan1-speed',
  'fan2-speed',
  'fan3-speed',
  'fan4-speed',
  'psu1-state',
  'psu2-state',
  'psu1-voltage',
  'psu2-voltage',
  'psu1-current',
  'psu2-current',
];

/** Sensors as set by `setSensor` (health.ts), so that a test can heat the router up. */
const health: readonly MenuDefinition[] = [
  {
    path: '/system/health',
    since: '7.0',
    without: ['add', 'remove', 'set', 'unset'],
    firstId: 13,
    noExport: true,
    volatile: true,
    properties: { name: readOnly, value: readOnly, type: readOnly },
  },
  {
    path: '/system/health',
    until: '7.0',
    single: true,
    noExport: true,
    volatile: true,
    properties: Object.fromEntries(SENSOR_NAMES.map((name) => [name, readOnly])),
  },
];

function clockValues(router: RouterState): [string, string][] {
  const wall = router.clock.wallMs();
  const offset = Math.round(router.clock.gmtOffsetMs() / 60_000);
  const size = Math.abs(offset);
  const sign = offset < 0 ? '-' : '+';
  const gmt = `${sign}${String(Math.floor(size / 60)).padStart(2, '0')}:${String(size % 60).padStart(2, '0')}`;
  return [
    ['time', formatTime(wall)],
    ['date', formatDate(router.version, wall)],
    ['time-zone-name', router.clock.timeZone],
    ['gmt-offset', gmt],
    ['dst-active', 'false'],
  ];
}

/** The clock is not stored: setting it moves the router's clock. */
function setClock({ router, values, given }: ProposedChange): void {
  const zone = values.get('time-zone-name');
  if (given.has('time-zone-name') && zone !== undefined) router.clock.timeZone = zone;
  const [date, time] = [given.has('date') ? values.get('date') : undefined, given.has('time') ? values.get('time') : undefined];
  if (date === undefined && time === undefined) return;
  if (!router.clock.setWall(date, time)) throw new Trap(`invalid value for argument ${date === undefined ? 'time' : 'date'}`, 1);
  values.delete('date');
  values.delete('time');
}

const reboot: CustomCommand = {
  parameters: [],
  policies: ['reboot'],
  run({ router, call }) {
    router.log('system,info', `router rebooted by ${call.session.user}`);
    router.scheduleReboot();
    return { rows: [] };
  },
};

export const SYSTEM_MENUS: readonly MenuDefinition[] = [
  { path: '/system', bare: true, properties: {}, custom: { reboot, shutdown: reboot, 'reset-configuration': resetConfiguration } },
  { path: '/system/identity', single: true, noun: 'identity', properties: { name: { default: 'MikroTik' } } },
  {
    path: '/system/resource',
    single: true,
    without: ['set'],
    noExport: true,
    volatile: true,
    compute: resources,
    properties: Object.fromEntries(RESOURCE_NAMES.map((name) => [name, readOnly])),
    custom: { monitor: monitorResource },
  },
  {
    path: '/system/resource/cpu',
    without: ['add', 'set', 'remove', 'unset'],
    noExport: true,
    volatile: true,
    properties: {},
    rows: (router) =>
      Array.from({ length: router.model.cpuCount }, (_, index) => ({
        id: `*${index}`,
        values: [
          ['cpu', `cpu${index}`],
          ['load', '2'],
          ['irq', '0'],
          ['disk', '0'],
        ],
      })),
  },
  {
    path: '/system/routerboard',
    when: ({ model, version }) => model.boardName !== 'CHR' || version.major < 7,
    single: true,
    without: ['set'],
    noExport: true,
    volatile: true,
    compute: routerboard,
    properties: Object.fromEntries(
      [
        'routerboard',
        'board-name',
        'model',
        'serial-number',
        'firmware-type',
        'factory-firmware',
        'current-firmware',
        'upgrade-firmware',
      ].map((name) => [name, readOnly]),
    ),
  },
  {
    path: '/system/license',
    single: true,
    without: ['set'],
    noExport: true,
    volatile: true,
    compute: license,
    properties: { 'software-id': readOnly, nlevel: readOnly, features: readOnly, 'system-id': readOnly, level: readOnly },
  },
  ...health,
  {
    path: '/system/clock',
    single: true,
    compute: clockValues,
    check: setClock,
    properties: {
      time: text,
      date: text,
      'time-zone-autodetect': flag('true'),
      'time-zone-name': { type: 'time-zone', default: 'manual' },
      'gmt-offset': readOnly,
      'dst-active': readOnly,
    },
  },
  {
    path: '/system/ntp/client',
    single: true,
    since: '7.0',
    properties: {
      enabled: flag('false'),
      mode: { default: 'unicast' },
      servers: { type: { listOf: 'host' }, default: '' },
      vrf: { default: 'main' },
      'freq-drift': { ...counter },
      status: { readOnly: true, default: 'stopped' },
    },
  },
  {
    path: '/system/ntp/client',
    single: true,
    until: '7.0',
    properties: {
      enabled: flag('false'),
      'primary-ntp': { type: 'ip', default: '0.0.0.0' },
      'secondary-ntp': { type: 'ip', default: '0.0.0.0' },
      'server-dns-names': { default: '' },
      mode: { readOnly: true, default: 'unicast' },
    },
  },
  {
    path: '/system/package',
    without: ['add', 'set', 'remove', 'unset'],
    noExport: true,
    volatile: true,
    properties: { name: readOnly, version: readOnly, 'build-time': readOnly, scheduled: readOnly, disabled: readOnly },
  },
  { path: '/system/note', single: true, properties: { 'show-at-login': flag('true'), note: { default: '' } } },
];
