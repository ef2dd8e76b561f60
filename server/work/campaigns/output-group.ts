import { createHash } from 'node:crypto';

/**
 * Lines by which two routers differ although they said the same: the head of an export names the moment and the router.
 * RouterOS 6 writes `# may/01/2031 08:30:00 by RouterOS 6.49.10`, 7 `# 2031-05-01 08:30:00 by RouterOS 7.18.2`.
 */
const HEAD_OF_AN_EXPORT = /^# (?:\S+ \d\d:\d\d:\d\d by RouterOS .*|software id = .*|serial number = .*)$/;

/** What a script printed, without what tells nothing: line ends, blanks at the end, the head of an export. */
export function normaliseOutput(output: string): string {
  const lines = output.split(/\r\n|\r|\n/).map((line) => line.trimEnd());
  return lines
    .filter((line) => !HEAD_OF_AN_EXPORT.test(line))
    .join('\n')
    .replace(/^\n+/, '')
    .trimEnd();
}

/** Equal for jobs that ended for the same reason, with the same error and the same normalised output. */
export function outputHash(job: { output: string | null; error: string | null; reason: string | null }): string {
  const said = [job.reason ?? '', normaliseOutput(job.error ?? ''), normaliseOutput(job.output ?? '')];
  return createHash('sha256').update(JSON.stringify(said)).digest('hex').slice(0, 32);
}
