import type { HealthReadings } from '../../protocol/index.ts';
import type { RouterRow } from '../routers/adapter.ts';
import { isTrue } from '../../routeros-text/values.ts';

/** Degrees from `56.969689`, `N 56 58' 10.8''`, `N 56 58.181` or `-24.1`, as the receiver is set to print them. */
function parseDegrees(text: string | undefined, limit: number): number | undefined {
  const parts = (text ?? '').match(/\d+(?:\.\d+)?/g)?.map(Number) ?? [];
  const [degrees, minutes = 0, seconds = 0] = parts;
  if (degrees === undefined || parts.length > 3) return undefined;
  const size = degrees + minutes / 60 + seconds / 3600;
  if (size > limit) return undefined;
  return /[SW-]/i.test(text ?? '') ? -size : size;
}

/** @param row of `/system/gps/monitor once`; undefined without a receiver. @returns null without a fix */
export function readPosition(row: RouterRow | undefined): HealthReadings['position'] {
  if (!row || !isTrue(row['valid'])) return null;
  const latitude = parseDegrees(row['latitude'], 90);
  const longitude = parseDegrees(row['longitude'], 180);
  return latitude === undefined || longitude === undefined ? null : { latitude, longitude };
}
