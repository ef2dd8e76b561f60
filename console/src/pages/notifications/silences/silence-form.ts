import type { NewSilence } from '../../../../../client/browser.ts';
import { momentOf } from '../shown-time.ts';

export const SCOPES = [
  { value: 'router', name: 'a router' },
  { value: 'site', name: 'a site' },
  { value: 'team', name: 'the whole team' },
] as const;
export type Scope = (typeof SCOPES)[number]['value'];

/** Lengths that are offered, minutes as texts. */
export const LENGTHS = [
  { value: '60', name: 'an hour' },
  { value: '120', name: '2 hours' },
  { value: '240', name: '4 hours' },
  { value: '480', name: '8 hours' },
  { value: '1440', name: 'a day' },
  { value: '4320', name: '3 days' },
  { value: '10080', name: 'a week' },
  { value: '43200', name: '30 days' },
] as const;
export type Length = (typeof LENGTHS)[number]['value'];

export interface SilenceDraft {
  scope: Scope;
  routerId: string;
  siteId: string;
  length: Length;
  /** Of a field for date and time, in the zone of the shown times; empty: at once. */
  from: string;
  reason: string;
}

export const EMPTY_SILENCE: SilenceDraft = { scope: 'router', routerId: '', siteId: '', length: '120', from: '', reason: '' };

const MINUTE_MS = 60_000;

export type Missing = 'router' | 'site' | 'from' | 'why';

/** What somebody has to say yet. */
export function missingIn({ scope, routerId, siteId, from, reason }: SilenceDraft): Missing[] {
  return [
    ...(scope === 'router' && routerId === '' ? ['router' as const] : []),
    ...(scope === 'site' && siteId === '' ? ['site' as const] : []),
    ...(from !== '' && Number.isNaN(momentOf(from)) ? ['from' as const] : []),
    ...(reason.trim() === '' ? ['why' as const] : []),
  ];
}

/** Of a draft in which nothing is missing. @param now milliseconds since 1970 */
export function silenceOf({ scope, routerId, siteId, length, from, reason }: SilenceDraft, now: number): NewSilence {
  const begins = from === '' ? now : momentOf(from);
  return {
    ...(scope === 'router' ? { router_id: routerId } : {}),
    ...(scope === 'site' ? { site_id: siteId } : {}),
    ...(from === '' ? {} : { from: new Date(begins).toISOString() }),
    // To the minute: the same input again is the same request, and silences nothing twice.
    until: new Date(Math.ceil(begins / MINUTE_MS + Number(length)) * MINUTE_MS).toISOString(),
    reason: reason.trim(),
  };
}
