import { formatDuration, parseDuration } from '../../formats.ts';
import { isReachable, resolveName } from '../../reachable.ts';
import type { RouterState } from '../../state.ts';
import type { CustomCommand, MenuDefinition, Property } from '../definition.ts';
import { monitor, pause } from '../monitoring.ts';
import { Trap, type CommandResult, type Row } from '../types.ts';
import { fetchUrl } from './fetch.ts';
import { resolve } from './dns.ts';
import { execute, importFile } from './scripts.ts';

function pingRow(router: RouterState, host: string, seq: number, received: number): Row {
  const sent = seq + 1;
  const loss = String(Math.round(((sent - received) / sent) * 100));
  const reply: [string, string][] = isReachable(router, host)
    ? [
        ['size', '56'],
        ['ttl', '64'],
        ['time', router.version.major >= 7 ? '412us' : '0ms'],
      ]
    : [['status', 'timeout']];
  return new Map([
    ['seq', String(seq)],
    ['host', host],
    ...reply,
    ['sent', String(sent)],
    ['received', String(received)],
    ['packet-loss', loss],
  ]);
}

const ping: CustomCommand = {
  parameters: [
    'address',
    'count',
    'interval',
    'size',
    'interface',
    'src-address',
    'ttl',
    'do-not-fragment',
    'arp-ping',
    'routing-table',
    'vrf',
  ],
  policies: ['test'],
  async run({ router, call }): Promise<CommandResult> {
    const given = call.attributes.get('address');
    if (given === undefined) throw new Trap('missing =address=');
    const host = resolveName(router, given);
    if (host === undefined) throw new Trap('invalid value for argument address', 1);
    const count = call.attributes.has('count') ? Number(call.attributes.get('count')) : Infinity;
    const interval = parseDuration(call.attributes.get('interval') ?? '1s') ?? 1000;
    let received = 0;
    for (let seq = 0; seq < count; seq += 1) {
      if (seq > 0) await pause(router, interval, call.session.signal);
      if (isReachable(router, host)) received += 1;
      call.onRow?.(pingRow(router, host, seq, received));
    }
    // In `[…]` a ping is the number of answers.
    return call.onRow ? { rows: [] } : { rows: [], ret: String(received) };
  },
};

const FEATURES = [
  'bandwidth-test',
  'container',
  'email',
  'fetch',
  'hotspot',
  'ipsec',
  'l2tp',
  'pptp',
  'proxy',
  'romon',
  'scheduler',
  'smb',
  'sniffer',
  'socks',
  'traffic-gen',
  'zerotier',
];
const FORBIDDEN_AT_HOME = new Set([
  'scheduler',
  'socks',
  'fetch',
  'bandwidth-test',
  'traffic-gen',
  'sniffer',
  'romon',
  'proxy',
  'hotspot',
  'email',
  'zerotier',
  'container',
]);

/** What a mode allows; only `container`, `traffic-gen` and the like are off in advanced mode. */
export function allowedFeatures(mode: string): Record<string, string> {
  const allowed = (feature: string): boolean =>
    mode === 'home' ? !FORBIDDEN_AT_HOME.has(feature) : !['container', 'traffic-gen'].includes(feature);
  return Object.fromEntries(FEATURES.map((feature) => [feature, String(allowed(feature))]));
}

/** Without a press of the button nothing changes. */
const updateMode: CustomCommand = {
  policies: ['write', 'policy'],
  run: () => ({ rows: [new Map([['update', 'please activate by turning power off or pressing reset or mode button in 5m00s']])] }),
};

const readOnlyText: Property = { readOnly: true };

export const TOOL_MENUS: readonly MenuDefinition[] = [
  { path: '', bare: true, properties: {}, custom: { execute, import: importFile, ping, resolve } },
  { path: '/tool', bare: true, properties: {}, custom: { ping, fetch: fetchUrl } },
  {
    path: '/system/device-mode',
    single: true,
    since: '7.0',
    without: ['set'],
    volatile: true,
    noExport: true,
    custom: { update: updateMode },
    properties: {
      mode: readOnlyText,
      ...Object.fromEntries(FEATURES.map((feature) => [feature, readOnlyText])),
      flagged: readOnlyText,
      'flagging-enabled': readOnlyText,
      'attempt-count': readOnlyText,
    },
  },
  {
    path: '/system/gps',
    when: (router) => router.options.gps !== undefined,
    single: true,
    volatile: true,
    noExport: true,
    properties: { enabled: { type: 'bool', default: 'false' }, port: {} },
    custom: { monitor: monitor([], ({ router }) => [gpsRow(router)]) },
  },
];

function gpsRow(router: RouterState): Row {
  const { gps } = router.options;
  if (!gps) return new Map([['valid', 'false']]);
  const up = formatDuration(Math.floor(router.clock.uptimeMs() / 1000) * 1000);
  return new Map([
    ['date-and-time', ''],
    ['latitude', gps.latitude],
    ['longitude', gps.longitude],
    ['altitude', '30.000000m'],
    ['valid', 'true'],
    ['satellites', '9'],
    ['data-age', up],
  ]);
}
