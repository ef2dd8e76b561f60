import type { StreamEvent } from '../../events.ts';
import { cutToWidth, displayWidth, padToWidth } from '../display-width.ts';
import { reasonText } from '../state-words.ts';
import { printable } from '../text.ts';
import { feedParts } from './feed.ts';
import type { FleetModel } from './model.ts';
import type { Line } from './painter.ts';
import { ageText, causeLines, countsText, momentText } from './status-text.ts';

export interface FrameOptions {
  columns: number;
  rows: number;
  host: string;
  /** The server's time, milliseconds since 1970. */
  now: number;
  /** Begins the first line: `live`, or why not. */
  connection: string;
  /** A wait of the client, such as for the rate limit; '' for none. */
  notice: string;
}

/** Rows for common causes: the largest come first. */
const CAUSES = 4;
/** By the rows under the counts: empty lines between sections, rows of jobs, and rows that the latest events always get. */
const ROOM = [
  { from: 24, gap: 1, jobs: 5, feed: 4 },
  { from: 10, gap: 0, jobs: 2, feed: 4 },
  { from: -Infinity, gap: 0, jobs: 0, feed: 0 },
];
/** Share of a line for the name of a router; longer names end with `…`. */
const NAME_SHARE = 0.28;

/** One frame of `signalbox top`, exactly as many lines as the screen has rows or fewer. Each section says what it leaves out. */
export function topFrame(model: FleetModel, options: FrameOptions): Line[] {
  const { columns, rows, host, now, connection, notice } = options;
  const overview = { ...model.overview, routers: model.states };
  const head: Line[] = [
    { text: `${connection}  ${new Date(now).toISOString().slice(0, 19)}Z  ${host}  q: quit`, style: 'title' },
    ...(notice === '' ? [] : [{ text: notice, style: 'quiet' } as const]),
    ...countsText(overview, columns)
      .trimEnd()
      .split('\n')
      .map((text) => ({ text })),
    ...causeLines(overview, now)
      .slice(0, CAUSES)
      .map((text) => ({ text })),
  ];
  const left = rows - head.length;
  const room = ROOM.find(({ from }) => left >= from)!;
  const layout = { columns, gap: room.gap === 0 ? [] : [{ text: '' }] };
  const name = (text: string): string => cutToWidth(printable(text), Math.floor(columns * NAME_SHARE));
  const jobs = section('Running jobs', jobRows(model, now, name), room.jobs, layout);
  const feedRows = model.feed.map((event) => feedRow(event, model, name));
  const least = section('', feedRows.slice(0, room.feed), room.feed, layout).length;
  const down = section('Not answering', downRows(model, now, name), left - jobs.length - least - 1 - layout.gap.length, layout);
  const feed = section('Latest events', feedRows, left - jobs.length - down.length - 1 - layout.gap.length, { ...layout, isFeed: true });
  return fit([...head, ...down, ...jobs, ...feed], rows);
}

type Name = (text: string) => string;

function downRows(model: FleetModel, now: number, name: Name): string[][] {
  return model.down.map((router) => [
    name(router.identity),
    router.state ?? '-',
    momentText(router.state_since, now),
    ageText(router.state_since, now),
    reasonText(router.state_reason) ?? '-',
    name(router.agent_name ?? '-'),
  ]);
}

function jobRows(model: FleetModel, now: number, name: Name): string[][] {
  return model.runningJobs.map((job) => [name(model.nameOf(job.router_id)), ageText(job.since, now), job.description]);
}

function feedRow(event: StreamEvent, model: FleetModel, name: Name): string[] {
  const { time, type, about, details } = feedParts(event, model);
  return [time, type, name(about), details];
}

interface Layout {
  columns: number;
  /** Lines in front of a section. */
  gap: readonly Line[];
  /** The latest events of an endless stream, without a count of the rest. */
  isFeed?: boolean;
}

/** Title, rows, and how many were left out. Nothing when there are no rows, or no room. */
function section(title: string, all: readonly string[][], most: number, { columns, gap, isFeed = false }: Layout): Line[] {
  if (all.length === 0 || most <= 0) return [];
  const shown = all.slice(0, all.length > most && !isFeed ? most - 1 : most);
  const rest = isFeed ? 0 : all.length - shown.length;
  return [
    ...gap,
    { text: isFeed ? title : `${title} (${all.length})`, style: 'title' },
    ...aligned(shown, columns - 2).map((text) => ({ text: `  ${text}` })),
    ...(rest > 0 ? [{ text: `  … and ${rest} more`, style: 'quiet' } as const] : []),
  ];
}

const GAP = 2;
/** Minimum width of a column when others need room, in cells. */
const LEAST = 8;

/** Rows as columns of one line each. The widest columns give way first; what is cut ends with `…`. */
function aligned(rows: readonly string[][], width: number): string[] {
  const cells = rows.map((row) => row.map((text) => printable(text)));
  const widths = (cells[0] ?? []).map((_cell, column) => Math.max(...cells.map((row) => displayWidth(row[column]!))));
  let excess = widths.reduce((sum, each) => sum + each + GAP, -GAP) - width;
  while (excess > 0) {
    const widest = widths.indexOf(Math.max(...widths));
    if (widths[widest]! <= LEAST) break;
    widths[widest]! -= 1;
    excess -= 1;
  }
  return cells.map((row) =>
    row
      .map((text, column) => padToWidth(cutToWidth(text, widths[column]!), widths[column]!))
      .join(' '.repeat(GAP))
      .trimEnd(),
  );
}

/** A screen that is too low for all says so in its last line. */
function fit(lines: readonly Line[], rows: number): Line[] {
  if (lines.length <= rows) return [...lines];
  return [...lines.slice(0, rows - 1), { text: `… ${lines.length - rows + 1} more lines: use a higher terminal`, style: 'quiet' }];
}
