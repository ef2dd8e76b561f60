import { cleanText } from '../../routeros-text/router-text.ts';

/** Cleans what a router says and counts how much of it had to be, so that somebody can be told. */
export class Cleaner {
  /** Texts that were no text, or too long. */
  count = 0;

  /** One line, at most `max` UTF-16 units. */
  text(raw: string, max: number): string {
    const clean = cleanText(raw, max);
    if (clean !== raw) this.count += 1;
    return clean;
  }
}
