import { formatDateTime } from '../../formats.ts';
import type { RouterState } from '../../state.ts';
import type { MenuDefinition, ProposedChange } from '../definition.ts';
import { Trap } from '../types.ts';
import { comment, disabled, readOnly } from './parts.ts';
import { importKey, KEY_COMMANDS } from './user-keys.ts';

function checkUser({ router, table, values, item, given }: ProposedChange): void {
  if (given.has('.remove') || values.get('disabled') === 'true')
    return keepOneAdministrator(
      router,
      table.items.filter((other) => other !== item),
    );
  const group = values.get('group') ?? '';
  if (!router.table('/user/group').find('name', group)) throw new Trap('input does not match any value of group', 1);
}

function keepOneAdministrator(router: RouterState, others: readonly { values: ReadonlyMap<string, string> }[]): void {
  const full = others.some((user) => {
    const policies =
      router
        .table('/user/group')
        .find('name', user.values.get('group') ?? '')
        ?.values.get('policy') ?? '';
    return user.values.get('disabled') !== 'true' && policies.split(',').includes('policy');
  });
  if (!full) throw new Trap('failure: there must be at least one user with full permissions');
}

function activeUsers(router: RouterState) {
  const loggedIn = router.sessions.list().filter(({ session }) => session.user !== undefined);
  return loggedIn.map(({ id, session, since }) => ({
    id,
    values: [
      ['when', formatDateTime(router.version, router.clock.wallMs() - (router.time.now() - since))],
      ['name', session.user ?? ''],
      ['address', session.remoteAddress],
      ['via', session.service === 'ssh' ? 'ssh' : 'api'],
      ['radius', 'false'],
    ] as [string, string][],
  }));
}

export const USER_MENUS: readonly MenuDefinition[] = [
  {
    path: '/user',
    noExport: true,
    noun: 'user',
    changePolicies: ['write', 'policy'],
    check: checkUser,
    unique: { properties: ['name'], message: 'failure: user with the same name already exists' },
    properties: {
      name: { required: true },
      group: { required: true },
      address: { type: 'addresses', default: '' },
      password: { writeOnly: true, default: '', sensitive: true },
      'last-logged-in': readOnly,
      'inactivity-timeout': { type: 'duration', default: '10m', since: '7.16' },
      'inactivity-policy': { default: 'none', since: '7.16' },
      expired: { readOnly: true, default: 'false', since: '7.9' },
      disabled,
      comment,
    },
  },
  {
    path: '/user/group',
    noExport: true,
    noun: 'user group',
    changePolicies: ['write', 'policy'],
    unique: { properties: ['name'], message: 'failure: group with the same name already exists' },
    properties: { name: { required: true }, policy: { type: 'policies', default: '' }, skin: { default: 'default' }, comment },
  },
  {
    path: '/user/active',
    properties: {},
    rows: activeUsers,
    noExport: true,
    volatile: true,
    without: ['add', 'set', 'remove', 'unset'],
    custom: { 'request-logout': { policies: ['policy'], run: requestLogout, since: '7.0' } },
  },
  {
    path: '/user/ssh-keys',
    noun: 'ssh key',
    changePolicies: ['write', 'policy'],
    without: ['add', 'set', 'unset'],
    noExport: true,
    properties: {
      user: readOnly,
      bits: readOnly,
      'key-type': { readOnly: true, since: '7.12' },
      'key-owner': readOnly,
      '.key': { writeOnly: true },
      comment,
    },
    custom: { import: importKey, ...KEY_COMMANDS },
  },
];

function requestLogout({ router, call }: Parameters<typeof importKey.run>[0]) {
  const wanted = (call.attributes.get('.id') ?? call.attributes.get('numbers') ?? '').split(',');
  for (const { id, session } of router.sessions.list()) if (wanted.includes(id)) session.close(false);
  return { rows: [] };
}
