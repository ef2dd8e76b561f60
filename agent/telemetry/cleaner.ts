import { cleanText } from '../../routeros-text/router-text.ts';

/** Cleans a router's text and counts the changed values for the log. */
export class Cleaner {
  /** Number of texts with invalid characters, or too long. */
  count = 0;

  /** One line, at most `max` UTF-16 units. */
  text(raw: string, max: number): string {
    const clean = cleanText(raw, max);
    if (clean !== raw) this.count += 1;
    return clean;
  }
}
