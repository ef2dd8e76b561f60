import { Trap, type CommandCall, type CommandResult, type MenuTree, type Row, type Session } from '../../simulator/menu/types.ts';

const listCommands = ['print', 'add', 'set', 'remove', 'enable', 'disable', 'unset', 'export'];

/** A menu with items, or (`record`) one with a single record. */
interface FakeMenu {
  readonly parameters: readonly string[];
  readonly rows: Map<string, string>[];
  readonly record?: boolean;
}

/** A handful of menus over plain tables: enough router for the script language. */
export class FakeMenus implements MenuTree {
  readonly logged: string[] = [];
  private nextId = 1;
  private readonly menus: ReadonlyMap<string, FakeMenu> = new Map<string, FakeMenu>([
    ['/ip/address', { parameters: ['address', 'interface', 'comment', 'disabled', 'network'], rows: [] }],
    ['/ip/firewall/nat', { parameters: ['chain', 'action', 'comment', 'src-address', 'disabled'], rows: [] }],
    ['/interface', { parameters: ['name', 'type', 'mtu', 'comment', 'disabled'], rows: [] }],
    ['/interface/ethernet', { parameters: ['name', 'mtu', 'disabled'], rows: [] }],
    ['/user', { parameters: ['name', 'group', 'password'], rows: [] }],
    ['/system/scheduler', { parameters: ['name', 'on-event', 'interval', 'start-time'], rows: [] }],
    ['/system/identity', { parameters: ['name'], rows: [new Map([['name', 'MikroTik']])], record: true }],
    [
      '/system/resource',
      {
        parameters: [],
        rows: [
          new Map([
            ['uptime', '1w3d15h41m57s'],
            ['version', '7.23.3 (stable)'],
            ['total-memory', '268435456'],
          ]),
        ],
        record: true,
      },
    ],
    ['/log', { parameters: ['message'], rows: [] }],
  ]);

  hasPath(path: string): boolean {
    return path === '/' || [...this.menus.keys()].some((known) => known === path || known.startsWith(`${path}/`));
  }

  commands(path: string): readonly string[] {
    if (path === '/') return ['export', 'execute'];
    if (path === '/log') return ['print', 'info', 'warning', 'error'];
    const menu = this.menus.get(path);
    if (menu === undefined) return [];
    return menu.record === true ? ['print', 'set'] : listCommands;
  }

  children(path: string): readonly string[] {
    const start = path === '/' ? '/' : `${path}/`;
    const names = [...this.menus.keys()]
      .filter((known) => known.startsWith(start))
      .map((known) => known.slice(start.length).split('/')[0] ?? '');
    return [...new Set(names)];
  }

  parameters(path: string, command: string): readonly string[] | undefined {
    if (path === '/') return command === 'export' ? ['file', 'terse', 'hide-sensitive'] : ['script', 'as-string'];
    const menu = this.menus.get(path);
    if (command === 'print')
      return ['detail', 'stats', 'where', ...(menu?.parameters ?? [])].filter((name) => !menu?.parameters.includes(name));
    return menu?.parameters;
  }

  observe(): Promise<void> {
    return Promise.resolve();
  }

  items(_session: Session, path: string): Row[] {
    return this.menus.get(path)?.rows ?? [];
  }

  run(call: CommandCall): Promise<CommandResult> {
    return Promise.resolve().then(() => this.execute(call));
  }

  private execute(call: CommandCall): CommandResult {
    if (call.path === '/log' && call.command !== 'print') {
      this.logged.push(`${call.command} ${call.attributes.get('message') ?? ''}`);
      return { rows: [] };
    }
    if (call.command !== 'print' && !call.session.policies.has('write')) throw new Trap('not enough permissions (9)');
    if (call.command === 'execute') return { rows: [], ret: '*B546' };
    if (call.command === 'export') return { rows: [], ret: '# export\n/ip address' };
    const menu = this.menus.get(call.path);
    if (menu === undefined) throw new Trap('no such command prefix', 0);
    if (call.command === 'print') return { rows: menu.rows };
    return call.command === 'add' ? this.add(menu, call) : change(menu, call);
  }

  private add(menu: FakeMenu, call: CommandCall): CommandResult {
    const address = call.attributes.get('address');
    if (address !== undefined && menu.rows.some((row) => row.get('address') === address))
      throw new Trap('failure: already have such address');
    const id = `*${(this.nextId++).toString(16).toUpperCase()}`;
    menu.rows.push(new Map([['.id', id], ...call.attributes, ['disabled', call.attributes.get('disabled') ?? 'false']]));
    return { rows: [], ret: id };
  }
}

function change(menu: FakeMenu, call: CommandCall): CommandResult {
  const ids = call.attributes.get('.id')?.split(',');
  for (const row of menu.rows.filter((row) => menu.record === true || ids?.includes(row.get('.id') ?? '') === true)) {
    if (call.command === 'remove') menu.rows.splice(menu.rows.indexOf(row), 1);
    if (call.command === 'disable' || call.command === 'enable') row.set('disabled', String(call.command === 'disable'));
    if (call.command === 'unset') row.delete(call.attributes.get('value-name') ?? '');
    if (call.command === 'set') for (const [name, value] of call.attributes) if (name !== '.id') row.set(name, value);
  }
  return { rows: [] };
}
