import { invalidField } from '../../platform/core/errors.ts';
import { isUuid } from '../../platform/core/ids.ts';
import { ianaTimeZone } from '../../platform/core/time-zone.ts';
import type { Site, SiteChange } from './types.ts';

/** A name fits in one line of a list. */
const LONGEST_NAME = 100;

/** @throws AppError `invalid` for a name that is empty, too long or looks like an id */
export function checkName(field: string, name: string): string {
  const trimmed = name.trim();
  if (trimmed.length === 0 || trimmed.length > LONGEST_NAME) throw invalidField(field, `must have 1 to ${LONGEST_NAME} characters`);
  // Teams and sites are found by id or name: a name that looks like an id could select another record.
  if (isUuid(trimmed.toLowerCase())) throw invalidField(field, 'must not look like an id');
  return trimmed;
}

/** Location of a site without given fields. */
export const NOWHERE = { name: '', timeZone: null, latitude: null, longitude: null };

/** The site after a change. @throws AppError `invalid` naming the field */
export function checkSite(before: Site, change: SiteChange): Site {
  const site = {
    ...before,
    name: change.name === undefined ? before.name : checkName('name', change.name),
    timeZone: change.timeZone === undefined ? before.timeZone : checkTimeZone(change.timeZone),
    latitude: change.latitude === undefined ? before.latitude : checkDegrees('latitude', change.latitude, 90),
    longitude: change.longitude === undefined ? before.longitude : checkDegrees('longitude', change.longitude, 180),
  };
  if (site.latitude === null && site.longitude !== null) throw invalidField('latitude', 'must be given together with longitude');
  if (site.longitude === null && site.latitude !== null) throw invalidField('longitude', 'must be given together with latitude');
  return site;
}

function checkTimeZone(name: string | null): string | null {
  if (name === null) return null;
  const zone = ianaTimeZone(name);
  if (zone === undefined) throw invalidField('time_zone', 'is not an IANA time zone');
  return zone;
}

function checkDegrees(field: string, value: number | null, limit: number): number | null {
  if (value === null) return null;
  if (!(Math.abs(value) <= limit)) throw invalidField(field, `must be from -${limit} to ${limit} degrees`);
  return value;
}

/** RFC 5321. */
const LONGEST_EMAIL = 254;

/** Mail servers ignore case in practice, and one person must not get two accounts. */
export function normalizeEmail(email: string): string {
  return email.trim().toLowerCase();
}

/** @returns the address as stored. @throws AppError `invalid` */
export function checkEmail(email: string): string {
  const address = normalizeEmail(email);
  if (address.length > LONGEST_EMAIL || !/^[^\s@]+@[^\s@]+$/.test(address)) throw invalidField('email', 'is not an email address');
  return address;
}
