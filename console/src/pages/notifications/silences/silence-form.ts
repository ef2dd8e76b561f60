import type { NewSilence } from '../../../../../client/browser.ts';

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
] as const;
export type Length = (typeof LENGTHS)[number]['value'];

export interface SilenceDraft {
  scope: Scope;
  routerId: string;
  siteId: string;
  length: Length;
  /** Of a field for date and time; empty: at once. */
  from: string;
  reason: string;
}

export const EMPTY_SILENCE: SilenceDraft = { scope: 'router', routerId: '', siteId: '', length: '120', from: '', reason: '' };

const MINUTE_MS = 60_000;

/** @param now milliseconds since 1970 @returns undefined while a router or site is missing, or the beginning cannot be read */
export function silenceOf({ scope, routerId, siteId, length, from, reason }: SilenceDraft, now: number): NewSilence | undefined {
  if ((scope === 'router' && routerId === '') || (scope === 'site' && siteId === '')) return undefined;
  const begins = from === '' ? now : new Date(from).getTime();
  if (Number.isNaN(begins)) return undefined;
  return {
    ...(scope === 'router' ? { router_id: routerId } : {}),
    ...(scope === 'site' ? { site_id: siteId } : {}),
    ...(from === '' ? {} : { from: new Date(begins).toISOString() }),
    // To the minute: the same input again is the same request, and silences nothing twice.
    until: new Date(Math.ceil(begins / MINUTE_MS + Number(length)) * MINUTE_MS).toISOString(),
    reason: reason.trim(),
  };
}
