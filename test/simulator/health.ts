/** Sets the health values of a router. */
import type { RouterState } from './state.ts';

const UNITS: readonly (readonly [pattern: RegExp, unit: string])[] = [
  [/temperature/, 'C'],
  [/voltage$/, 'V'],
  [/-speed$/, 'RPM'],
  [/current$/, 'A'],
  [/consumption$/, 'W'],
];

/** v7 has a row per sensor, v6 one record. */
export function setSensor(router: RouterState, name: string, value: string): void {
  const table = router.table('/system/health');
  const [record] = table.items;
  if (router.version.major < 7) {
    if (record) table.update(record, [[name, value]]);
    return;
  }
  const row = table.find('name', name);
  const type = UNITS.find(([pattern]) => pattern.test(name))?.[1] ?? '';
  if (row) table.update(row, [['value', value]]);
  else
    table.add([
      ['name', name],
      ['value', value],
      ['type', type],
    ]);
}

/** Throws RangeError for a port that the board does not have. */
export function setPoeOut(router: RouterState, port: string, status: string): void {
  const item = router.table('/interface').find('name', port);
  if (!item) throw new RangeError(`no port ${port}`);
  const mode = item.values.get('poe-out') ?? 'auto-on';
  router.table('/interface').update(item, [
    ['poe-out', mode],
    ['poe-priority', '10'],
    ['.poe-status', status],
  ]);
}
