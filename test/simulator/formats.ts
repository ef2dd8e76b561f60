/** How RouterOS writes dates, times and durations; all times here are local wall time in milliseconds. */
import type { RouterVersion } from './version.ts';

const MONTHS = ['jan', 'feb', 'mar', 'apr', 'may', 'jun', 'jul', 'aug', 'sep', 'oct', 'nov', 'dec'];
const UNITS: readonly (readonly [string, number])[] = [
  ['w', 604_800_000],
  ['d', 86_400_000],
  ['h', 3_600_000],
  ['m', 60_000],
  ['s', 1000],
  ['ms', 1],
];

/** RouterOS counts seconds in 32 bits. */
const LONGEST_MS = 0xffff_ffff * 1000;

const two = (value: number): string => String(value).padStart(2, '0');

/** `nov/20/2026` up to 7.9, `2026-11-20` from 7.10. */
export function formatDate(version: RouterVersion, wallMs: number): string {
  const date = new Date(wallMs);
  const [year, month, day] = [date.getUTCFullYear(), date.getUTCMonth(), date.getUTCDate()];
  if (version.atLeast('7.10')) return `${year}-${two(month + 1)}-${two(day)}`;
  return `${MONTHS[month]}/${two(day)}/${year}`;
}

export function formatTime(wallMs: number): string {
  return new Date(wallMs).toISOString().slice(11, 19);
}

export function formatDateTime(version: RouterVersion, wallMs: number): string {
  return `${formatDate(version, wallMs)} ${formatTime(wallMs)}`;
}

/** Log and next-run times: before 7.10 today's are a bare time, and the log leaves the year out. */
export function formatRecent(version: RouterVersion, wallMs: number, nowWallMs: number): string {
  if (version.atLeast('7.10')) return formatDateTime(version, wallMs);
  if (formatDate(version, wallMs) === formatDate(version, nowWallMs)) return formatTime(wallMs);
  return `${formatDate(version, wallMs).slice(0, 6)} ${formatTime(wallMs)}`;
}

/** Either way of writing a date, as midnight; undefined when it is none. */
export function parseDate(text: string): number | undefined {
  const iso = /^(\d{4})-(\d{1,2})-(\d{1,2})$/.exec(text);
  if (iso) return utcMidnight(Number(iso[1]), Number(iso[2]) - 1, Number(iso[3]));
  const old = /^([a-z]{3})\/(\d{1,2})\/(\d{4})$/i.exec(text);
  const month = old ? MONTHS.indexOf((old[1] ?? '').toLowerCase()) : -1;
  return old && month >= 0 ? utcMidnight(Number(old[3]), month, Number(old[2])) : undefined;
}

function utcMidnight(year: number, month: number, day: number): number | undefined {
  const at = Date.UTC(year, month, day);
  const date = new Date(at);
  return date.getUTCMonth() === month && date.getUTCDate() === day ? at : undefined;
}

/** A duration as the API prints it: `1w3d15h41m57s`, `29m4s`, `0s`. */
export function formatDuration(ms: number): string {
  let left = Math.max(0, Math.floor(ms));
  let text = '';
  for (const [unit, size] of UNITS) {
    const count = Math.floor(left / size);
    left -= count * size;
    if (count > 0) text += `${count}${unit}`;
  }
  return text === '' ? '0s' : text;
}

/** A duration with colons: `1w3d15:41:57`, `00:08:55`. */
export function formatClock(ms: number): string {
  const rest = ms % 86_400_000;
  const days = ms - rest;
  return `${days > 0 ? formatDuration(days) : ''}${new Date(rest).toISOString().slice(11, 19)}`;
}

/** A duration as it may be typed: `1w2d3h4m5s`, `01:02:03`, `1d 02:03:04`, `30` (seconds). Undefined when it is none. */
export function parseDuration(text: string): number | undefined {
  const ms = readDuration(text);
  return ms === undefined || ms > LONGEST_MS ? undefined : ms;
}

function readDuration(text: string): number | undefined {
  if (/^\d+$/.test(text)) return Number(text) * 1000;
  const match = /^((?:\d+(?:ms|[wdhms])\s*)*)(?:(\d+):(\d{2})(?::(\d{2})(?:\.(\d{1,3}))?)?)?$/.exec(text.trim());
  if (!match || text.trim() === '') return undefined;
  return parseUnits(match[1] ?? '') + parseClock(match);
}

function parseUnits(text: string): number {
  let total = 0;
  for (const [, count, unit] of text.matchAll(/(\d+)(ms|[wdhms])/g)) {
    total += Number(count) * (UNITS.find(([name]) => name === unit)?.[1] ?? 0);
  }
  return total;
}

function parseClock(match: RegExpExecArray): number {
  if (match[2] === undefined) return 0;
  const fraction = Number((match[5] ?? '').padEnd(3, '0') || '0');
  return (Number(match[2]) * 3600 + Number(match[3]) * 60 + Number(match[4] ?? 0)) * 1000 + fraction;
}
