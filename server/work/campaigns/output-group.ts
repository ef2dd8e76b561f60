import { createHash } from 'node:crypto';

/**
 * Lines that differ between routers although the result is the same: the first line of an export has the time and the version. RouterOS 6
 * writes `# may/01/2031 08:30:00 by RouterOS 6.49.10`, 7 `# 2031-05-01 08:30:00 by RouterOS 7.18.2`.
 */
const HEAD_OF_AN_EXPORT = /^# (?:\S+ \d\d:\d\d:\d\d by RouterOS .*|software id = .*|serial number = .*)$/;

/** The output of a script without line-end characters, trailing blanks and the first line of an export. */
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
