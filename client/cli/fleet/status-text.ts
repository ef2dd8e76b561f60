import { wrapText } from '../../../runtime/help-rows.ts';
import type { Campaign, Overview } from '../../generated.ts';
import { cutToWidth, displayWidth } from '../display-width.ts';
import { nameOf } from '../names.ts';
import { durationText } from '../quantities.ts';
import { reasonText } from '../state-words.ts';
import type { Column } from '../text.ts';
import { printable, table } from '../text.ts';
import type { Fleet } from './fleet.ts';

interface Layout {
  /** Cells of a line; Infinity when the output is not a terminal. */
  width: number;
  /** Rows of each list. */
  rows: number;
}

/** From this width on there is room for columns that matter less. */
const WIDE = 110;
/** Share of a line for the name of a router; longer names end with `…`. */
const NAME_SHARE = 0.28;

/** The fleet on one screen. A list that is longer than `rows` says what it left out, and which command shows it. */
export function statusText(fleet: Fleet, server: string, layout: Layout): string {
  const { overview, at, names } = fleet;
  const { width } = layout;
  const router = (name: string | null): string => cutToWidth(printable(name), Math.floor(width * NAME_SHARE));
  const whenWide = <T>(column: Column<T>): Column<T>[] => (width >= WIDE ? [column] : []);
  const parts = [
    `${server} at ${new Date(at).toISOString().slice(0, 19)}Z\n`,
    countsText(overview, width),
    causesText(overview, at, width),
    section(
      'Not answering',
      fleet.down,
      [
        ['ROUTER', ({ identity }) => router(identity)],
        ['STATE', ({ state }) => state],
        ['SINCE', ({ state_since: since }) => momentText(since, at)],
        ['FOR', ({ state_since: since }) => ageText(since, at)],
        ['REASON', ({ state_reason: reason }) => reasonText(reason)],
        ...whenWide<Fleet['down'][0]>(['AGENT', ({ agent_name: agent }) => router(agent)]),
      ],
      { layout, more: 'signalbox routers --state down --sort -since' },
    ),
    section(
      'Open faults',
      fleet.faults,
      [
        ['SEVERITY', ({ severity }) => severity],
        ['ROUTER', ({ rid }) => router(nameOf(names, rid))],
        ['FOR', ({ created_at: since }) => ageText(since, at)],
        ['MESSAGE', ({ message }) => message],
      ],
      { layout, more: 'signalbox faults --open', total: sum(overview.open_faults) },
    ),
    section(
      'Running jobs',
      fleet.runningJobs,
      [
        ['ROUTER', ({ router_id: id }) => router(nameOf(names, id))],
        ['FOR', ({ started_at: started, created_at: created }) => ageText(started ?? created, at)],
        ['DESCRIPTION', ({ description }) => description],
      ],
      { layout, more: 'signalbox status --json' },
    ),
    section(
      'Open forwards',
      fleet.openForwards,
      [
        ['ROUTER', ({ router_id: id }) => router(nameOf(names, id))],
        ['ENTRY', ({ entry_point: host, port }) => `${host}:${port}`],
        ['TARGET', ({ dst_address: address, dst_port: port }) => `${address}:${port}`],
        ...whenWide<Fleet['openForwards'][0]>(['FROM', ({ allow_only_cidr: source }) => source]),
        ['ENDS IN', ({ expires_at: end }) => durationText(Date.parse(end) - at)],
      ],
      { layout, more: 'signalbox status --json', total: overview.open_forwards },
    ),
    section(
      'Running campaigns',
      fleet.runningCampaigns,
      [
        ['DESCRIPTION', ({ description }) => description],
        ['ROUTERS', progressText],
        ['FAILED', ({ counts }) => counts.failed + counts.expired + counts.unknown],
        ['FOR', ({ created_at: since }) => ageText(since, at)],
      ],
      { layout, more: 'signalbox campaign list', total: overview.running_campaigns },
    ),
  ];
  return parts.filter((part) => part !== '').join('\n');
}

/** `08:18:02` of the last 24 hours, `04-30 08:18` of the last months, else the date. UTC, like every time on the command line. */
export function momentText(moment: string | null, at: number): string {
  if (moment === null) return '-';
  const age = at - Date.parse(moment);
  if (age < DAY_MS) return moment.slice(11, 19);
  return age < MONTHS_MS ? `${moment.slice(5, 10)} ${moment.slice(11, 16)}` : moment.slice(0, 10);
}

const DAY_MS = 86_400_000;
const MONTHS_MS = 300 * DAY_MS;

export function ageText(moment: string | null, at: number): string {
  return moment === null ? '-' : durationText(at - Date.parse(moment));
}

/** One line for each kind of record; counts of 0 are left out of the details. */
export function countsText({ routers, agents, open_faults: faults, jobs_24h: jobs, ...rest }: Overview, width: number): string {
  const rows: [name: string, total: string, details: string][] = [
    ['Routers', String(sum(routers)), detailsOf(routers)],
    ['Agents', String(sum(agents)), detailsOf({ connected: agents.connected, away: agents.away, 'never connected': agents.unseen })],
    ['Open faults', String(sum(faults)), detailsOf(faults)],
    ['Jobs of 24 h', `${rest.jobs_24h_is_exact ? '' : 'over '}${sum(jobs)}`, detailsOf(jobs)],
    ['Open forwards', String(rest.open_forwards), ''],
    ['Open terminals', String(rest.open_terminals), ''],
    ['Running campaigns', String(rest.running_campaigns), ''],
  ];
  const nameWidth = Math.max(...rows.map(([name]) => name.length));
  const totalWidth = Math.max(...rows.map(([, total]) => total.length));
  const indent = nameWidth + totalWidth + 4;
  return rows
    .map(([name, total, details]) => {
      const lines = wrapText(details, Math.max(20, width - indent)).map((line) => line.replaceAll(NO_BREAK, ' '));
      return `${`${name.padEnd(nameWidth)}  ${total.padStart(totalWidth)}  ${lines.join(`\n${' '.repeat(indent)}`)}`.trimEnd()}\n`;
    })
    .join('');
}

/** Stands between a name and its count until the line is wrapped. */
const NO_BREAK = '\u00a0';

function sum(counts: Readonly<Record<string, number>>): number {
  return Object.values(counts).reduce((total, count) => total + count, 0);
}

function detailsOf(counts: Readonly<Record<string, number>>): string {
  const present = Object.entries(counts).filter(([, count]) => count > 0);
  return present.map(([name, count]) => `${name}${NO_BREAK}${count}`).join(', ');
}

/** What routers that do not answer have in common, one sentence each. */
export function causeLines({ common_causes: causes }: Overview, at: number): string[] {
  return causes.map(({ kind, name, value, routers_away: away, routers, since }) => {
    const when = `the first since ${momentText(since, at)}, ${ageText(since, at)} ago`;
    return `${away} of ${routers} routers of ${kind} ${printable(name ?? value)}, ${when}`;
  });
}

function causesText(overview: Overview, at: number, width: number): string {
  const lines = causeLines(overview, at).map((line) => `  ${wrapText(line, width - 4, displayWidth).join('\n    ')}\n`);
  return lines.length === 0 ? '' : `What they have in common\n${lines.join('')}`;
}

interface Rest {
  layout: Layout;
  /** The command that shows everything. */
  more: string;
  /** When more than the list holds were counted. */
  total?: number;
}

/** A list under its title; '' when it is empty. */
function section<T>(title: string, all: readonly T[], columns: readonly Column<T>[], { layout, more, total = all.length }: Rest): string {
  if (all.length === 0) return '';
  const shown = all.slice(0, layout.rows);
  const left = Math.max(total, all.length) - shown.length;
  const rest = left > 0 ? `  … and ${left} more: ${more}\n` : '';
  return `${title}\n${table(shown, columns, '', layout.width - 2).replaceAll(/^(?=.)/gm, '  ')}${rest}`;
}

function progressText({ counts, target_count: count }: Campaign): string {
  const { waiting, pending, running } = counts;
  return `${count - waiting - pending - running} of ${count}`;
}
