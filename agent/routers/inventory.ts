import { parseDuration } from '../../routeros-text/durations.ts';
import { cleanText, deviceIdProblem, timeZoneFact, uptimeFact } from '../../routeros-text/router-text.ts';
import { isTrue, recordLine } from '../../routeros-text/values.ts';
import { plainVersion } from '../../routeros-text/versions.ts';
import { AgentError } from '../core/errors.ts';
import type { RouterFacts, RouterRow } from './adapter.ts';

/** The records of an inventory: the first one of each menu, or undefined. */
export interface InventoryRecords {
  resource: RouterRow;
  identity: RouterRow;
  /** Absent on CHR 7.x; only `routerboard=false` on x86. */
  routerboard?: RouterRow | undefined;
  /** `software-id` on boards and x86, `system-id` on CHR. */
  license?: RouterRow | undefined;
  clock?: RouterRow | undefined;
}

const orNull = (text: string | undefined): string | null => (text === undefined || text === '' ? null : text);

/** Longest values that the protocol accepts. */
const LONGEST: Readonly<Record<string, number>> = { name: 255, version: 64, 'architecture-name': 64, uptime: 64 };
const LONGEST_OTHER = 128;

/** A cleaned copy of a record. Adds the names of changed properties to `cleaned`. */
function cleanRecord(record: RouterRow, cleaned: string[]): RouterRow {
  const clean: RouterRow = {};
  for (const [name, value] of Object.entries(record)) {
    clean[name] = cleanText(value, LONGEST[name] ?? LONGEST_OTHER);
    if (clean[name] !== value) cleaned.push(name);
  }
  return clean;
}

/** v6 prints `manual` when only an offset is set, which is not a zone name. */
function timeZone(clock: RouterRow | undefined, cleaned: string[]): string | null {
  const name = orNull(clock?.['time-zone-name']);
  if (name === null || name === 'manual') return null;
  const zone = timeZoneFact(name);
  if (zone === undefined) cleaned.push('time-zone-name');
  return zone ?? null;
}

/** Whole seconds of an uptime as a router prints it; null for an impossible value. */
export function uptimeSeconds(uptime: string): number | null {
  const seconds = uptimeFact(parseDuration(uptime));
  return seconds === undefined ? null : Math.floor(seconds);
}

/**
 * A router's facts from its records.
 * @throws AgentError `unsupported` when the router shows no id, or an id with other than ASCII characters
 */
export function parseFacts(records: InventoryRecords): RouterFacts {
  const cleaned: string[] = [];
  const read = (record: RouterRow | undefined): RouterRow => cleanRecord(record ?? {}, cleaned);
  const [resource, identity, routerboard] = [read(records.resource), read(records.identity), read(records.routerboard)];
  const [license, clock] = [read(records.license), read(records.clock)];
  const hardwareBoard = isTrue(routerboard['routerboard']);
  const serialNumber = hardwareBoard ? orNull(routerboard['serial-number']) : null;
  const softwareId = orNull(license['software-id']) ?? orNull(license['system-id']);
  const hardwareId = serialNumber ?? softwareId;
  if (hardwareId === null) {
    throw new AgentError('unsupported', 'the router shows neither a serial number nor a software id: does the user have the policy read?');
  }
  const problem = deviceIdProblem('serial_number', serialNumber) ?? deviceIdProblem('software_id', softwareId);
  if (problem !== undefined) throw new AgentError('unsupported', problem);
  const uptime = resource['uptime'] ?? '';
  const seconds = uptimeSeconds(uptime);
  if (seconds === null && uptime !== '') cleaned.push('uptime');
  const zone = timeZone(clock, cleaned);
  return {
    hardwareId,
    serialNumber,
    softwareId,
    identity: identity['name'] ?? '',
    softwareVersion: plainVersion(resource['version'] ?? ''),
    model: hardwareBoard ? orNull(routerboard['model']) : null,
    boardName: resource['board-name'] ?? '',
    hardwareBoard,
    architecture: orNull(resource['architecture-name']),
    timeZone: zone,
    uptime,
    uptimeSeconds: seconds,
    ...(cleaned.length > 0 ? { cleaned } : {}),
  };
}

/** Starts a section in the output of {@link inventoryLines}. No menu prints a line with this prefix. */
const SECTION = '#signalbox ';

/**
 * Console lines that print an inventory. Two, because a missing menu (routerboard on CHR) is a syntax error, and then the whole line
 * does not run.
 */
export function inventoryLines(): string[] {
  const section = (name: string, command: string): string => `:put "${SECTION}${name}"; ${command}`;
  return [
    [
      section('resource', '/system resource print'),
      section('identity', ':put ("name: " . [/system identity get name])'),
      section('license', '/system license print'),
      section('clock', '/system clock print'),
    ].join('; '),
    section('routerboard', '/system routerboard print'),
  ];
}

/** Parses the `name: value` lines of such output by section. */
export function parseSections(text: string): Partial<Record<string, RouterRow>> {
  const sections: Partial<Record<string, RouterRow>> = {};
  let current: RouterRow | undefined;
  for (const line of text.split('\n')) {
    if (line.startsWith(SECTION)) {
      current = {};
      sections[line.slice(SECTION.length).trim()] = current;
      continue;
    }
    const [name, value] = recordLine(line) ?? [];
    if (current && name !== undefined && value !== undefined) current[name] = value;
  }
  return sections;
}

/** Facts from the output of {@link inventoryLines}. @throws AgentError `unsupported` */
export function parseConsoleFacts(text: string): RouterFacts {
  const { resource = {}, identity = {}, routerboard, license, clock } = parseSections(text);
  return parseFacts({ resource, identity, routerboard, license, clock });
}
