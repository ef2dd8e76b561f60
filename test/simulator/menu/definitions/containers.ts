/** `/container`, which comes with a package of its own. Nothing runs in it: an image is unpacked for a while, then it can be started. */
import type { RouterState } from '../../state.ts';
import type { CustomCommand, MenuContext, MenuDefinition, ProposedChange } from '../definition.ts';
import { readMenuTables } from '../menu-tables.ts';
import type { Item } from '../table.ts';
import { Trap } from '../types.ts';

const TABLES = `
/container/mounts  since=7.4 until=7.21 comment
  name                    required
  src                     required
  dst                     required

/container/mounts  since=7.21 key=list comment
  list                    required
  src                     required
  dst                     required

/container  since=7.4 comment
  name                    since=7.20
  file
  remote-image
  interface               interface                             required
  root-dir
  mounts                  list(@/container/mounts)              until=7.21
  mountlists              since=7.21
  hostname
  cmd
  dns
  logging                 bool                                  =no
  start-on-boot           bool                                  =no
  status                  readonly
`;

/** Long enough for several looks, short for a test. */
const UNPACKING_MS = 12_000;

function statusOf(router: RouterState, item: Item): string {
  if (router.time.now() < Number(item.values.get('.unpacked-at') ?? '0')) return 'extracting';
  return item.values.get('.state') ?? 'stopped';
}

function checkContainer({ router, values, item, given }: ProposedChange): void {
  if (item) {
    if (given.has('.remove') && statusOf(router, item) !== 'stopped') throw new Trap('failure: container must be stopped');
    return;
  }
  const file = values.get('file');
  if (file === undefined && !values.has('remote-image')) throw new Trap('failure: must specify remote-image or file');
  if (file !== undefined && !router.files.get(file)) throw new Trap('failure: file not found');
  if (router.setting('/system/device-mode', 'container') === 'false') throw new Trap('failure: not allowed by device-mode');
  values.set('.unpacked-at', String(router.time.now() + UNPACKING_MS));
}

function chosen({ table, call }: MenuContext): Item[] {
  const references = (call.attributes.get('.id') ?? call.attributes.get('numbers') ?? call.attributes.get('number') ?? '').split(',');
  return references
    .filter((reference) => reference !== '')
    .map((reference) => {
      const item = table.byId(reference) ?? table.find('name', reference);
      if (!item) throw new Trap('no such item', 0);
      return item;
    });
}

function change(from: string, to: string): CustomCommand {
  return {
    parameters: ['numbers', 'number'],
    policies: ['write'],
    run(context) {
      for (const item of chosen(context)) {
        if (statusOf(context.router, item) !== from) throw new Trap(`failure: container is not ${from}`);
        context.table.update(item, [['.state', to]]);
      }
      return { rows: [] };
    },
  };
}

const hasPackage = (router: RouterState): boolean => router.options.containers;

export const CONTAINER_MENUS: readonly MenuDefinition[] = readMenuTables(TABLES, {
  '/container/mounts': { when: hasPackage },
  '/container': {
    when: hasPackage,
    check: checkContainer,
    compute: (router, item) => [['status', statusOf(router, item)]],
    custom: { start: change('stopped', 'running'), stop: change('running', 'stopped') },
  },
});
