/** The lines of an export that a comparison uses. Pure. */

/** Items that agents store on routers during a job. */
const OWN_ITEM = /^(?:add|set) .*\bname="?signalbox-(?:undo-)?[0-9a-f-]{36}/;

/**
 * The lines of an export. Wrapped lines are joined, because one longer word would move every following break. Comments (the date, the
 * router's remarks) and the agent's items for a job are left out.
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

/** A menu line is kept only if a line of that menu follows. */
function isUsed(next: string | undefined): boolean {
  return next !== undefined && !next.startsWith('/');
}
