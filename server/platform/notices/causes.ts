import { fromJson, storableText } from '../storage/columns.ts';
import { formatDuration, formatNumber } from './format.ts';

/**
 * Why something is wrong, as a code with its numbers and names. A record keeps the codes beside the English text, so that a message can say
 * it in the language of its reader: `server/outbound/notifications/texts`. A code never changes its meaning or its values. Pure.
 */

/** What each code takes, and its words in English. They stand behind "Cause:", so they begin with a small letter. */
export const CAUSES = {
  agent_away: () => 'it has no tunnel to the control plane; whether the router answers is unknown',
  /** `reason`: a code of the protocol, or empty. `said`: the agent's own words, or empty. */
  no_answer: ({ said }: { reason: string; said: string }) => said || 'it does not answer its agent',
  not_reported: () => 'its agent no longer reports it: it was removed there, or another device answers in its place',
  /** In seconds. */
  uptime_back: ({ before, after }: { before: number; after: number }) =>
    `its uptime went back from ${formatDuration(before)} to ${formatDuration(after)}`,
  cpu_load: ({ percent }: { percent: number }) => `processor load is ${formatNumber(percent)} %`,
  celsius: ({ name, celsius }: { name: string; celsius: number }) => `${name} is ${formatNumber(celsius)} °C`,
  input_volts: ({ volts }: { volts: number }) => `supply is ${formatNumber(volts)} V`,
  disk_free: ({ percent, free, total }: { percent: number; free: number; total: number }) =>
    `${formatNumber(percent)} % (${Math.round(free / 1024)} of ${Math.round(total / 1024)} KiB) are free`,
  wan_partly: ({ interfaces, left, all }: { interfaces: string; left: number; all: number }) =>
    `${interfaces} not running; ${left} of ${all} still are`,
  wan_none: ({ interfaces }: { interfaces: string }) => `${interfaces} not running, and there is no other`,
  /** Behind if negative. */
  clock_offset: ({ seconds }: { seconds: number }) => `it is ${formatDuration(Math.abs(seconds))} ${seconds < 0 ? 'behind' : 'ahead'}`,
  part_state: ({ name, state }: { name: string; state: string }) => `${name} is ${state}`,
  part_volts: ({ name, volts }: { name: string; volts: number }) => `${name} is ${formatNumber(volts)} V`,
  fan_stands: ({ name }: { name: string }) => `${name} is 0 RPM while others turn`,
  fan_rpm: ({ name, rpm }: { name: string; rpm: number }) => `${name} is ${formatNumber(rpm)} RPM`,
  poe_status: ({ name, status }: { name: string; status: string }) => `${name}: ${status}`,
  bad_blocks: ({ percent }: { percent: number }) => `${formatNumber(percent)} % of the flash blocks are bad`,
  disks_healthy: () => 'all disks are healthy',
  signal_dbm: ({ name, dbm }: { name: string; dbm: number }) => `${name} receives ${formatNumber(dbm)} dBm`,
  not_registered: ({ name }: { name: string }) => `${name} is not registered`,
  devices_kept: ({ total, most }: { total: number; most: number }) =>
    `its ARP table and DHCP leases list ${total} devices, and at most ${most} are kept per router. ` +
    'A network scan or spoofed addresses can fill an ARP table; check /ip/arp/print count-only',
  claimed_by: ({ agent, address, entry }: { agent: string; address: string; entry: string }) =>
    `agent "${agent}" (${address}) reports it as "${entry}"`,
  more_claims: ({ count }: { count: number }) => `${count} more`,
  /** `address`: empty if the agent has never connected. */
  held_by: ({ agent, address, entry }: { agent: string; address: string; entry: string }) =>
    `agent "${agent}" (${address || 'never connected'}) has it as "${entry}". ` +
    'Approve the move if the router was handed over, refuse it if not: GET /api/router-moves',
  same_serial: ({ holder, others, more, id }: { holder: string; others: string; more: number; id: string }) =>
    `${holder} has this router; ${others}${more > 0 ? ` and ${more} more` : ''} reports the same hardware id ${id} and is not managed. ` +
    'Take one of them out of the configuration if both lead to one router; a cloned CHR needs a new id: /system/license/generate-new-id',
  /** Milliseconds since 1970. `node`: which of several control planes. */
  certificate_ends: ({ at, node }: { at: number; node?: string }) => `${before(node)}expires on ${dayOf(at)}`,
  certificate_ended: ({ at, node }: { at: number; node?: string }) => `${before(node)}expired on ${dayOf(at)}`,
  server_disk: ({ megabytes }: { megabytes: number }) => `${megabytes} MB free`,
};

/** A name before what is said of it, in any language. */
export function before(name: string | undefined): string {
  return name === undefined ? '' : `${name}: `;
}

export type CauseCode = keyof typeof CAUSES;
type ValuesOf<Code extends CauseCode> = Parameters<(typeof CAUSES)[Code]> extends [infer Values] ? Values : object;
/** The words of one language for every code. */
export type CauseWords = { readonly [Code in CauseCode]: (values: ValuesOf<Code>) => string };
export type Cause = { [Code in CauseCode]: { code: Code } & ValuesOf<Code> }[CauseCode];

/** In one line, in the language of `words`. */
export function sayCauses(causes: readonly Cause[], words: CauseWords = CAUSES): string {
  return causes.map((cause) => say(cause, words)).join(', ');
}

function say<Code extends CauseCode>(cause: Cause & { code: Code }, words: CauseWords): string {
  return (words[cause.code] as (values: Cause) => string)(cause);
}

/** A chassis has a dozen parts. More than these are in the router's own list. */
const MOST_CAUSES = 12;
/** Names of interfaces and agents, and the words of an agent. */
const MOST_CHARS = 300;

/** As stored with a record or a notice: names come from routers and agents, so their number and length are bounded. */
export function storableCauses(causes: readonly Cause[]): Cause[] {
  return causes
    .slice(0, MOST_CAUSES)
    .map((cause) => Object.fromEntries(Object.entries(cause).map(([name, value]) => [name, shortened(value)])) as Cause);
}

function shortened(value: unknown): unknown {
  return typeof value === 'string' ? storableText(value.slice(0, MOST_CHARS)) : value;
}

/** Of a column. */
export function parseCauses(text: string | null): readonly Cause[] {
  return text === null ? [] : readCauses(fromJson(text));
}

/** Reads what {@link storableCauses} has stored. Empty if there is none, or if another version stored what this one has no words for. */
export function readCauses(value: unknown): readonly Cause[] {
  if (!Array.isArray(value)) return [];
  return value.every(isCause) ? value : [];
}

function isCause(value: unknown): value is Cause {
  return typeof value === 'object' && value !== null && 'code' in value && Object.hasOwn(CAUSES, String(value.code));
}

/** `2026-11-30`, in UTC. */
function dayOf(time: number): string {
  return new Date(time).toISOString().slice(0, 10);
}
