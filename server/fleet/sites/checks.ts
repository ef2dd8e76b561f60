import { checkName } from '../../platform/core/check-name.ts';
import { invalidField } from '../../platform/core/errors.ts';
import { ianaTimeZone } from '../../platform/core/time-zone.ts';
import type { Site, SiteChange } from './types.ts';

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
