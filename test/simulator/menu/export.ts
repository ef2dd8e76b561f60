/** `/export` and its kin: the configuration as the commands that would make it. */
import { formatDateTime } from '../formats.ts';
import type { RouterState } from '../state.ts';
import type { MenuDefinition } from './definition.ts';
import { itemsOf } from './rows.ts';
import type { Item } from './table.ts';
import type { CommandCall, CommandResult } from './types.ts';

interface Style {
  terse: boolean;
  verbose: boolean;
  sensitive: boolean;
}

const LINE_WIDTH = 80;

/** Writes `file=` if asked to; a console gets the text as `ret`, an API session gets nothing. */
export function exportMenus(router: RouterState, menus: readonly MenuDefinition[], path: string, call: CommandCall): CommandResult {
  const wants = (flag: string): boolean => call.attributes.has(flag);
  const mayShow = call.session.policies.has('sensitive');
  const sensitive = mayShow && (router.version.major < 7 ? !wants('hide-sensitive') : wants('show-sensitive'));
  const style = { terse: wants('terse'), verbose: wants('verbose'), sensitive };
  const chosen = menus.filter((menu) => (path === '' ? !menu.noExport : menu.path === path || menu.path.startsWith(`${path}/`)));
  const lines = [...header(router), ...chosen.flatMap((menu) => section(router, menu, style))];
  const text = `${lines.join('\r\n')}\r\n`;
  const file = call.attributes.get('file');
  if (file !== undefined) router.files.write(file.endsWith('.rsc') ? file : `${file}.rsc`, text);
  return file === undefined && call.session.origin !== 'api' ? { rows: [], ret: text } : { rows: [] };
}

function header(router: RouterState): string[] {
  const lines = [
    `# ${formatDateTime(router.version, router.clock.wallMs())} by RouterOS ${router.version.text}`,
    `# software id = ${router.softwareId}`,
    '#',
  ];
  if (router.model.model === undefined) return lines;
  return [...lines, `# model = ${router.model.model}`, `# serial number = ${router.serialNumber}`];
}

function section(router: RouterState, menu: MenuDefinition, style: Style): string[] {
  if (menu.bare || menu.rows) return [];
  const commands = itemsOf(router, menu)
    .filter((item) => !item.dynamic)
    .map((item) => command(router, menu, item, style))
    .filter((line) => line !== undefined);
  const path = menu.path.replaceAll('/', ' ').trim();
  if (commands.length === 0) return [];
  if (style.terse) return commands.map((line) => `/${path} ${line}`);
  return [`/${path}`, ...commands.flatMap(wrap)];
}

function command(router: RouterState, menu: MenuDefinition, item: Item, style: Style): string | undefined {
  const shown = exportedValues(router, menu, item, style).map(([name, value]) => `${name}=${quote(value)}`);
  if (menu.single) return shown.length === 0 ? undefined : `set ${shown.join(' ')}`;
  if (!menu.without?.includes('add')) return item.values.get('builtin') === 'true' ? undefined : `add ${shown.join(' ')}`;
  const own = item.values.get('default-name');
  const target = own === undefined ? (item.values.get('name') ?? item.id) : `[ find default-name=${own} ]`;
  const changes = shown.filter((each) => !each.startsWith('name=') || each !== `name=${quote(own ?? item.values.get('name') ?? '')}`);
  return changes.length === 0 ? undefined : `set ${target} ${changes.join(' ')}`;
}

function exportedValues(router: RouterState, menu: MenuDefinition, item: Item, style: Style): [string, string][] {
  const values: [string, string][] = [];
  for (const [name, property] of Object.entries(menu.properties)) {
    const value = item.values.get(name);
    if (value === undefined || property.readOnly || !router.version.within(property)) continue;
    if (property.sensitive && !style.sensitive) continue;
    if (property.writeOnly && !property.sensitive) continue;
    if (!style.verbose && (value === property.default || isHardware(menu, name) || (name === 'comment' && value === ''))) continue;
    values.push([name, value === 'true' ? 'yes' : value === 'false' ? 'no' : value]);
  }
  return values.sort(([a], [b]) => (a < b ? -1 : 1));
}

/** What comes with the board is not configuration. */
function isHardware(menu: MenuDefinition, name: string): boolean {
  return (
    (menu.path === '/interface/ethernet' && name === 'mac-address') ||
    (menu.path === '/ip/service' && ['port', 'certificate', 'tls-version', 'vrf', 'max-sessions'].includes(name))
  );
}

function quote(value: string): string {
  if (/^[\w./:,*@+-]+$/.test(value)) return value;
  const escaped = value
    .replace(/["\\$?]/g, '\\$&')
    .replaceAll('\r', '\\r')
    .replaceAll('\n', '\\n')
    .replaceAll('\t', '\\t');
  return `"${escaped}"`;
}

/** Continues a long line with a backslash, four spaces in. */
function wrap(line: string): string[] {
  const lines: string[] = [];
  let rest = line;
  let indent = '';
  while (indent.length + rest.length > LINE_WIDTH) {
    const cut = breakPoint(rest, LINE_WIDTH - indent.length - 1);
    if (cut <= 0) break;
    lines.push(`${indent}${rest.slice(0, cut)}\\`);
    rest = rest.slice(cut);
    indent = '    ';
  }
  return [...lines, `${indent}${rest}`];
}

/** The last space outside quotes; a quoted text is kept whole. */
function breakPoint(text: string, width: number): number {
  let quoted = false;
  let last = 0;
  for (let at = 0; at < Math.min(text.length, width); at += 1) {
    if (text[at] === '"' && text[at - 1] !== '\\') quoted = !quoted;
    if (text[at] === ' ' && !quoted) last = at + 1;
  }
  return last;
}
