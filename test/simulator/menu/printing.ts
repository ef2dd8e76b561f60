/** print, listen, find and export of any menu. */
import { rowOf, rowsOf } from './rows.ts';
import type { MenuContext } from './definition.ts';
import { Trap, type CommandResult, type Row } from './types.ts';

export const PRINT_FLAGS = [
  'detail',
  'stats',
  'brief',
  'terse',
  'follow',
  'follow-only',
  'count-only',
  'without-paging',
  'value-list',
  'from',
  'where',
  'interval',
  'file',
  'append',
  'as-value',
  'once',
  'show-ids',
  'proplist',
  'group-by',
  'oid',
  'all',
];

export function printItems(context: MenuContext): CommandResult | Promise<CommandResult> {
  const { router, menu, call } = context;
  const wants = (flag: string): boolean => call.attributes.has(flag);
  if (wants('follow-only')) return followItems(context, []);
  const rows = rowsOf(router, menu);
  if (wants('follow')) return followItems(context, rows);
  if (wants('count-only')) return { rows: [], ret: String(rows.length) };
  const file = call.attributes.get('file');
  if (file === undefined) return { rows };
  router.files.write(/\.\w+$/.test(file) ? file : `${file}.txt`, rows.map(plainLine).join('\r\n'));
  return { rows: [] };
}

function plainLine(row: Row): string {
  return [...row].map(([name, value]) => `${name}=${value}`).join(' ');
}

/** Sends changes until the session's signal ends it. */
export function followItems(context: MenuContext, first: readonly Row[]): Promise<CommandResult> {
  const { router, menu, table, call } = context;
  const send = call.onRow;
  if (!send) throw new Trap('failure: command does not end by itself');
  for (const row of first) send(row);
  return new Promise((resolve, reject) => {
    const stop = table.watch(({ kind, item }) => {
      if (menu.only && !menu.only(item)) return;
      send(
        kind === 'remove'
          ? new Map([
              ['.id', item.id],
              ['.dead', 'true'],
            ])
          : rowOf(router, menu, item),
      );
    });
    const end = (): void => {
      stop();
      reject(new Trap('interrupted', 2));
    };
    if (call.session.signal.aborted) end();
    else call.session.signal.addEventListener('abort', end, { once: true });
  });
}

/** The API's `find` has no conditions: every id, as the script language joins them. */
export function findIds({ router, menu }: MenuContext): CommandResult {
  return {
    rows: [],
    ret: rowsOf(router, menu)
      .map((row) => row.get('.id') ?? '')
      .join(';'),
  };
}
