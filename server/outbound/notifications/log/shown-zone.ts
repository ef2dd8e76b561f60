import { z } from 'zod';
import { ianaTimeZone } from '../../../platform/core/time-zone.ts';

/** The longest name in the IANA database is under 40 characters. */
const MAX_CHARS = 100;

/** For readers who see other times beside the subjects: all of one page in one zone. */
export const shownZone = z
  .string()
  .max(MAX_CHARS)
  .refine((name) => ianaTimeZone(name) !== undefined, 'is not an IANA time zone')
  .optional()
  .describe('IANA name of the zone of the times in `subject`; without it, that of the site. What was sent stays as it was said');
