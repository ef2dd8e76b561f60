import { z } from 'zod';
import { ianaTimeZone } from '../../../platform/core/time-zone.ts';

/** The longest name in the IANA database is under 40 characters. */
const MAX_CHARS = 100;
/** `Europe/Madrid`, `America/Port-au-Prince`, `Etc/GMT+5`. Not an offset, and not in the middle of another text. */
const NAME = /^[A-Za-z][\w+-]*(?:\/[\w+-]+)*$/;

/**
 * For readers who see other times beside the subjects: all of one page in one zone. A browser may know a zone that this server's ICU does
 * not: without its times the page is still worth reading.
 */
export const shownZone = z
  .string()
  .max(MAX_CHARS)
  .regex(NAME, 'is not an IANA time zone')
  .transform((name) => ianaTimeZone(name))
  .optional()
  .describe(
    'IANA name of the zone of the times in `subject`; without it, and for one that the control plane does not know, that of the site. ' +
      'What was sent stays as it was said',
  );
