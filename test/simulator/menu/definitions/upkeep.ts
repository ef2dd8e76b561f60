/** Updates, resets, global variables and certificates: what keeps a router going over the years. */
import { boardNumber } from '../../board-number.ts';
import { formatDateTime, formatDuration } from '../../formats.ts';
import type { RouterState } from '../../state.ts';
import { toText, type Value } from '../../script/values.ts';
import type { CustomCommand, MenuDefinition } from '../definition.ts';
import type { Item } from '../table.ts';
import { Trap } from '../types.ts';
import { readOnly } from './parts.ts';

const UPDATE = '/system/package/update';

function updateStatus(router: RouterState): [string, string | undefined][] {
  const latest = router.setting(UPDATE, '.latest');
  return [
    ['installed-version', router.version.text],
    ['latest-version', latest === '' ? undefined : latest],
    ['status', router.setting(UPDATE, '.status') || undefined],
  ];
}

/** Asks the maker's server, which is the option `latestVersion`. */
function checkForUpdates(router: RouterState): string {
  const latest = router.options.latestVersion ?? router.version.text;
  return note(router, latest, latest === router.version.text ? 'System is already up to date' : 'New version is available');
}

function note(router: RouterState, latest: string, status: string): string {
  const item = router.table(UPDATE).items[0];
  if (item)
    router.table(UPDATE).update(item, [
      ['.latest', latest],
      ['.status', status],
    ]);
  return latest;
}

const check: CustomCommand = {
  parameters: ['once', 'as-value', 'duration'],
  policies: ['read', 'write'],
  run({ router }) {
    checkForUpdates(router);
    const told = updateStatus(router).map(([name, value]) => [name, value ?? ''] as const);
    return { rows: [new Map([['channel', router.setting(UPDATE, 'channel')], ...told])] };
  },
};

const download: CustomCommand = {
  parameters: ['once', 'as-value'],
  policies: ['read', 'write'],
  run({ router }) {
    const latest = checkForUpdates(router);
    if (latest !== router.version.text) {
      router.files.write(`routeros-${latest}-${router.model.architecture}.npk`, `packages of ${latest}`);
      note(router, latest, 'Downloaded, please reboot router to upgrade it');
    }
    return { rows: [new Map([['status', router.setting(UPDATE, '.status')]])] };
  },
};

/** A simulated router keeps its version: it downloads, reboots and comes up as it was. */
const install: CustomCommand = {
  parameters: [],
  policies: ['read', 'write', 'reboot'],
  async run(context) {
    const result = await download.run(context);
    if (context.router.options.latestVersion !== undefined) context.router.scheduleReboot();
    return result;
  },
};

export const resetConfiguration: CustomCommand = {
  parameters: ['keep-users', 'no-defaults', 'skip-backup', 'run-after-reset', 'caps-mode'],
  policies: ['write', 'policy', 'reboot'],
  run({ router: target, call }) {
    const wants = (name: string): boolean => ['yes', 'true'].includes(call.attributes.get(name) ?? '');
    const script = call.attributes.get('run-after-reset');
    if (script !== undefined && !target.files.read(script)) throw new Trap('failure: file not found');
    target.log('system,info', `router reset by ${call.session.user}`);
    target.resetConfiguration({ keepUsers: wants('keep-users'), noDefaults: wants('no-defaults'), runAfter: script });
    return { rows: [] };
  },
};

/** Global variables of all users, as `:global` made them. */
const environment: MenuDefinition = {
  path: '/system/script/environment',
  volatile: true,
  noExport: true,
  without: ['add', 'set', 'unset', 'remove'],
  properties: { name: readOnly, value: readOnly, user: readOnly },
  rows: (target) =>
    variables(target).map(({ id, user, name, text }) => ({
      id,
      values: [
        ['name', name],
        ['value', text],
        ['user', user],
      ],
    })),
  custom: {
    remove: {
      parameters: ['numbers'],
      run({ router: target, call }) {
        const all = variables(target);
        for (const reference of (call.attributes.get('.id') ?? call.attributes.get('numbers') ?? '').split(',')) {
          const found = all.find(({ id, name }) => name === reference || id === reference);
          if (!found) throw new Trap('no such item', 0);
          target.globals.get(found.user)?.delete(found.name);
        }
        return { rows: [] };
      },
    },
  },
};

interface Variable {
  readonly id: string;
  readonly user: string;
  readonly name: string;
  readonly text: string;
}

/** Ids given to variables so far, by user and name: a loop that removes some must not shift the others. */
const variableIds = new WeakMap<RouterState, Map<string, string>>();

function variables(target: RouterState): Variable[] {
  const ids = variableIds.get(target) ?? new Map<string, string>();
  variableIds.set(target, ids);
  return [...target.globals].flatMap(([user, values]) =>
    [...values].map(([name, value]) => {
      const key = `${user} ${name}`;
      const id = ids.get(key) ?? `*${(ids.size + 1).toString(16).toUpperCase()}`;
      ids.set(key, id);
      return { id, user, name, text: toText(value as Value) };
    }),
  );
}

const DAY_MS = 86_400_000;

/** A certificate counts from the day it was signed. */
function certificateValues(target: RouterState, item: Item): [string, string | undefined][] {
  const signedAt = Number(item.values.get('.signed') ?? Number.NaN);
  if (Number.isNaN(signedAt)) return [];
  const until = signedAt + Number(item.values.get('days-valid') ?? '365') * DAY_MS;
  const left = until - target.clock.wallMs();
  return [
    ['invalid-before', formatDateTime(target.version, signedAt)],
    ['invalid-after', formatDateTime(target.version, until)],
    ['expires-after', left > 0 ? formatDuration(Math.floor(left / 1000) * 1000) : undefined],
    ['expired', left > 0 ? undefined : 'true'],
    ['private-key', 'true'],
    // Of one that a listener really uses; the others are only names.
    ['fingerprint', item.values.get('.fingerprint') ?? boardNumber(`${item.id}${signedAt}`, 64).toLowerCase()],
  ];
}

const sign: CustomCommand = {
  parameters: ['numbers', 'name', 'ca', 'ca-crl-host'],
  run({ router: target, table, call }) {
    const reference = call.attributes.get('.id') ?? call.attributes.get('numbers') ?? '';
    const item = table.byId(reference) ?? table.find('name', reference);
    if (!item) throw new Trap('no such item', 0);
    table.update(item, [
      ['.signed', String(target.clock.wallMs())],
      ['name', call.attributes.get('name') ?? item.values.get('name')],
    ]);
    return { rows: [new Map([['progress', 'done']])] };
  },
};

const days = { from: 1, to: 36_500 };
const KEY_SIZES = ['1024', '1536', '2048', '4096', '8192', 'prime256v1', 'secp384r1', 'secp521r1'];
const KEY_USAGE = 'digital-signature,key-encipherment,data-encipherment,key-cert-sign,crl-sign,tls-server,tls-client';

export const UPKEEP_MENUS: readonly MenuDefinition[] = [
  {
    path: UPDATE,
    single: true,
    noExport: true,
    volatile: true,
    compute: updateStatus,
    custom: { 'check-for-updates': check, download, install },
    properties: {
      channel: { type: ['development', 'long-term', 'stable', 'testing', 'upgrade'], default: 'stable' },
      'installed-version': readOnly,
      'latest-version': readOnly,
      status: readOnly,
    },
  },
  environment,
  {
    path: '/certificate',
    noun: 'certificate',
    noExport: true,
    without: ['unset'],
    compute: certificateValues,
    custom: { sign },
    properties: {
      name: { required: true },
      'common-name': {},
      country: {},
      organization: {},
      'subject-alt-name': {},
      'key-size': { type: KEY_SIZES, default: '2048' },
      'key-usage': { default: KEY_USAGE },
      'days-valid': { type: days, default: '365' },
      trusted: { type: 'bool' },
      'invalid-before': readOnly,
      'invalid-after': readOnly,
      'expires-after': readOnly,
      expired: readOnly,
      'private-key': readOnly,
      fingerprint: readOnly,
    },
  },
];
