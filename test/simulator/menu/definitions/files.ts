import { textOfBytes } from '../../api/words.ts';
import { packBackup, unpackBackup } from '../../backup.ts';
import type { StoredFile } from '../../files.ts';
import { formatDate, formatDateTime, formatTime } from '../../formats.ts';
import type { RouterState } from '../../state.ts';
import type { CustomCommand, MenuContext, MenuDefinition } from '../definition.ts';
import { Trap, type CommandResult } from '../types.ts';

const TYPES: Readonly<Record<string, string>> = { backup: 'backup', rsc: 'script', txt: '.txt file', npk: 'package' };
const MOST_READ_BYTES = 32_768;

function fileType(file: StoredFile): string {
  if (file.directory) return file.name === 'flash' ? 'disk' : 'directory';
  const ending = /\.(\w+)$/.exec(file.name)?.[1] ?? '';
  return TYPES[ending] ?? (ending === '' ? 'file' : `.${ending} file`);
}

/** Text up to 4 kB, from 7.14 up to 60 kB; binary contents never. */
function shownContents(router: RouterState, file: StoredFile): string | undefined {
  const most = router.version.atLeast('7.14') ? 60_000 : 4096;
  if (file.directory || file.contents.length > most || file.contents.includes(0)) return undefined;
  const text = file.contents.toString('utf8');
  return Buffer.from(text, 'utf8').equals(file.contents) ? text : undefined;
}

function fileValues(router: RouterState, file: StoredFile): [string, string][] {
  const lagging = router.time.now() - file.writtenAt < router.options.fileSizeLagMs;
  const values: [string, string][] = [
    ['name', file.name],
    ['type', fileType(file)],
  ];
  if (!file.directory) values.push(['size', lagging ? '0' : String(file.contents.length)]);
  values.push(['creation-time', formatDateTime(router.version, file.createdAt)]);
  if (router.version.major >= 7) values.push(['last-modified', formatDateTime(router.version, file.modifiedAt)]);
  const contents = lagging ? undefined : shownContents(router, file);
  if (contents !== undefined) values.push(['contents', contents]);
  return values;
}

function findFile({ router, call }: MenuContext, ...names: string[]): StoredFile {
  const reference = names.map((name) => call.attributes.get(name)).find((value) => value !== undefined);
  if (reference === undefined) throw new Trap('missing =.id=');
  const file = router.files.list().find((each) => each.id === reference || each.name === reference);
  if (!file) throw new Trap('no such item', 0);
  return file;
}

const remove: CustomCommand = {
  parameters: ['numbers'],
  run({ router, call }): CommandResult {
    const references = (call.attributes.get('.id') ?? call.attributes.get('numbers') ?? '').split(',');
    for (const reference of references) {
      const file = router.files.list().find((each) => each.id === reference || each.name === reference);
      if (!file) throw new Trap('no such item', 0);
      router.files.remove(file.name);
    }
    return { rows: [] };
  },
};

function writeContents(router: RouterState, name: string, contents: string): StoredFile {
  if (Buffer.byteLength(contents) > 60_000) throw new Trap('invalid value for argument contents', 1);
  return router.files.write(name, contents);
}

const set: CustomCommand = {
  parameters: ({ version }) => (version.atLeast('7.13') ? ['numbers', 'contents', 'name', 'type'] : ['numbers', 'contents']),
  run(context): CommandResult {
    const file = findFile(context, '.id', 'numbers');
    const [contents, name] = [context.call.attributes.get('contents'), context.call.attributes.get('name')];
    if (contents !== undefined) writeContents(context.router, file.name, contents);
    if (name !== undefined) context.router.files.rename(file.name, name);
    return { rows: [] };
  },
};

const add: CustomCommand = {
  since: '7.9',
  parameters: ({ version }) => (version.atLeast('7.15') ? ['name', 'contents', 'type', 'copy-from'] : ['name', 'contents', 'copy-from']),
  run({ router, call }): CommandResult {
    const name = call.attributes.get('name');
    if (name === undefined) throw new Trap('missing =name=');
    if (router.files.get(name)) throw new Trap('failure: file already exists');
    if (call.attributes.get('type') === 'directory') return { rows: [], ret: router.files.makeDirectory(name).id };
    return { rows: [], ret: writeContents(router, name, call.attributes.get('contents') ?? '').id };
  },
};

const read: CustomCommand = {
  since: '7.13',
  parameters: ['file', 'offset', 'chunk-size', 'as-value'],
  policies: ['read'],
  run(context): CommandResult {
    const file = findFile(context, 'file');
    const [offset, size] = [
      Number(context.call.attributes.get('offset') ?? 0),
      Number(context.call.attributes.get('chunk-size') ?? MOST_READ_BYTES),
    ];
    if (!Number.isInteger(size) || size < 1 || size > MOST_READ_BYTES) throw new Trap('invalid value for argument chunk-size', 1);
    const chunk = file.contents.subarray(offset, offset + size);
    const data =
      context.router.options.binaryFileRead === 'bytes' ? textOfBytes(chunk) : chunk.toString('latin1').replaceAll(/[^\x20-\x7e\s]/g, '?');
    return { rows: [new Map([['data', data]])] };
  },
};

function backupName(router: RouterState): string {
  const wall = router.clock.wallMs();
  const day = formatDate(router.version, wall).replaceAll(/[-/]/g, '');
  return `${router.setting('/system/identity', 'name')}-${day}-${formatTime(wall).slice(0, 5).replace(':', '')}`;
}

const withEnding = (name: string): string => (name.endsWith('.backup') ? name : `${name}.backup`);

/** Before 6.43 a backup without a password is encrypted with the user's own. */
function backupPassword({ router, call }: MenuContext): string | undefined {
  const given = call.attributes.get('password');
  if (given !== undefined) return given;
  const plain = router.version.atLeast('6.43') || call.attributes.get('dont-encrypt') === 'yes';
  return plain ? undefined : router.table('/user').find('name', call.session.user)?.values.get('password');
}

const save: CustomCommand = {
  parameters: ['name', 'password', 'dont-encrypt', 'encryption'],
  policies: ['read', 'write', 'ftp', 'sensitive'],
  run(context): CommandResult {
    const { router, call } = context;
    router.files.write(
      withEnding(call.attributes.get('name') ?? backupName(router)),
      packBackup(router.saveConfiguration(), backupPassword(context)),
    );
    router.log('system,info', 'configuration backup saved');
    return { rows: [] };
  },
};

const load: CustomCommand = {
  parameters: ['name', 'password', 'force-v6-to-v7-configuration-upgrade'],
  policies: ['write', 'policy', 'reboot', 'sensitive'],
  run({ router, call }): CommandResult {
    const name = call.attributes.get('name');
    if (name === undefined) throw new Trap('missing =name=');
    const file = router.files.read(name) ?? router.files.read(withEnding(name));
    if (!file) throw new Trap('failure: file not found');
    const configuration = unpackBackup(file, call.attributes.get('password') ?? '');
    if (configuration === undefined) throw new Trap('failure: wrong password or broken backup');
    router.restoreConfiguration(configuration);
    router.scheduleReboot();
    return { rows: [] };
  },
};

export const FILE_MENUS: readonly MenuDefinition[] = [
  {
    path: '/file',
    noExport: true,
    volatile: true,
    without: ['add', 'set', 'remove', 'unset'],
    properties: {},
    custom: { remove, set, add, read },
    rows: (router) => router.files.list().map((file) => ({ id: file.id, values: fileValues(router, file) })),
  },
  { path: '/system/backup', bare: true, properties: {}, custom: { save, load } },
];
