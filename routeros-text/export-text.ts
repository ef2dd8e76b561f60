/** `# 2026-11-20 10:00:00 by RouterOS 7.18.2`, from v6 to v7 the first line of every text export. */
const HEADER = /^# \S+ \S+ by RouterOS \d/;

/** Whether a text is an export. A router that refuses to export may write its refusal into the file. */
export function isExportText(text: string): boolean {
  return HEADER.test(text.trimStart());
}
