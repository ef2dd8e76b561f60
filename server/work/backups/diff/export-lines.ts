/** What of a text export is worth comparing. Pure. */

/** What agents store on routers for the time of a job. */
const OWN_ITEM = /^(?:add|set) .*\bname="?signalbox-(?:undo-)?[0-9a-f-]{36}/;

/**
 * The lines of an export: wrapped ones joined again, because one longer word would move every break behind it; without
 * comments (the date, what the router remarks on items), and without what agents put there for a job.
 */
export function exportLines(text: string): string[] {
  const lines = text
    .replaceAll(/\\\r?\n {4}/g, '')
    .split(/\r?\n/)
    .map((line) => line.trimEnd())
    .filter((line) => line !== '' && !line.startsWith('#') && !OWN_ITEM.test(line));
  return lines.filter(
    (line, index) => !line.startsWith('/') || isUsed(lines[index + 1]) || line.includes(' add ') || line.includes(' set '),
  );
}

/** A menu's line counts only with something below it. */
function isUsed(next: string | undefined): boolean {
  return next !== undefined && !next.startsWith('/');
}
