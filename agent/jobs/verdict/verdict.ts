import type { JobReason, JobResult } from '../../../protocol/index.ts';
import { MAX_OUTPUT_BYTES } from '../../../protocol/index.ts';
import { cleanLines } from '../../../routeros-text/router-text.ts';
import type { Marker } from '../run-marker.ts';
import { failureIn } from '../../../routeros-text/refusals.ts';

/** Result of the call that started a run. */
export type RunReport =
  /**
   * The console's output; the router answered, so the run is over. The script may end early by a `:return`, or by an `:error` that
   * the wrapper cannot catch on this version.
   */
  | { kind: 'text'; text: string; truncated: boolean; mayReturn: boolean; mayRaise: boolean }
  /** `/system/script/run` ended without an error. */
  | { kind: 'finished' }
  /** The router refused or the script failed, with this message. */
  | { kind: 'refused'; message: string }
  /** There was no session: nothing was sent. */
  | { kind: 'not_sent'; message: string }
  /** No answer: the session broke, the agent was restarted, or (`late`) the script exceeded its time. */
  | { kind: 'lost'; late: boolean };

/** State of the router after a run whose end was not observed. */
export interface Aftermath {
  marker: Marker;
  /** The script is in the list of running scripts. */
  running: boolean;
  /** The router has booted since the script began. */
  rebooted: boolean;
  /** The script exceeded its time and was just stopped. */
  stopped: boolean;
}

/** Characters of a stored error text. */
const ERROR_CHARS = 4000;

/** The outcome of a run, or `wait` while the script runs. The marker decides, then the output. */
export function judge(given: RunReport, after: Aftermath): JobResult | 'wait' {
  const report = after.marker.state === 'error' ? withoutWrapper(given) : given;
  const output = outputOf(report);
  const { marker } = after;
  if (marker.state === 'done') return { ...output, outcome: 'completed', reason: null, error: null };
  if (marker.state === 'error') return failed(output, 'script_error', marker.message || textError(report) || 'the script failed');
  switch (report.kind) {
    case 'refused':
      return failed(output, 'script_error', report.message);
    case 'not_sent':
      return failed(output, 'rejected', `the router could not be reached, nothing ran: ${report.message}`);
    case 'finished':
      // It ended before its last line without an error, as with `:return`.
      return { ...output, outcome: 'completed', reason: null, error: null };
    case 'text':
      return judgeText(report, after, output);
    case 'lost':
      return judgeUnseen(output, after, report.late);
  }
}

/** The wrapper raises the script's error again, and the console appends the wrapper's position. */
function withoutWrapper(report: RunReport): RunReport {
  if (report.kind !== 'text' || report.truncated) return report;
  return { ...report, text: report.text.replace(/ \(:error; line \d+\)(\s*)$/, '$1') };
}

/** The console has answered, so the script is over; but the marker has neither `done` nor a caught error. */
function judgeText(report: RunReport & { kind: 'text' }, after: Aftermath, output: Output): JobResult | 'wait' {
  const error = failureIn(report.text);
  if (error !== undefined) return failed(output, 'script_error', error);
  if (after.running || after.rebooted || after.marker.state !== 'begun') return judgeUnseen(output, after, false);
  // Before 7.13 the output of a script's own `:error "text"` is only the text.
  if (!report.mayReturn) return failed(output, 'script_error', lastLine(report.text) ?? 'the script ended before its last line');
  return report.mayRaise
    ? unknown(output, 'interrupted', 'the script ended early, by :return or by :error')
    : { ...output, outcome: 'completed', reason: null, error: null };
}

function lastLine(text: string): string | undefined {
  return text
    .split('\n')
    .map((line) => line.trim())
    .findLast((line) => line !== '');
}

function judgeUnseen(output: Output, after: Aftermath, late: boolean): JobResult | 'wait' {
  if (after.running) return 'wait';
  if (after.rebooted) return unknown(output, 'router_rebooted', 'the router rebooted before the script ended');
  if (late || after.stopped) {
    // Only its own marker proves that it had not ended by itself just before.
    const isCut = after.marker.state === 'begun';
    return (isCut ? failed : unknown)(output, 'timed_out', 'the script did not end in time and was stopped');
  }
  return unknown(output, 'interrupted', 'the script was cut off, or its end was not seen');
}

type Output = Pick<JobResult, 'output' | 'output_truncated'>;

const NO_OUTPUT: Output = { output: null, output_truncated: false };

function outputOf(report: RunReport): Output {
  return report.kind === 'text' ? boundOutput(report.text, report.truncated) : NO_OUTPUT;
}

/** Cuts between characters. */
function boundOutput(text: string, truncated: boolean): Output {
  const bytes = Buffer.from(text, 'utf8');
  if (bytes.length <= MAX_OUTPUT_BYTES) return { output: text, output_truncated: truncated };
  const cut = bytes
    .subarray(0, MAX_OUTPUT_BYTES)
    .toString('utf8')
    .replace(/\uFFFD+$/, '');
  return { output: cut, output_truncated: true };
}

function textError(report: RunReport): string | undefined {
  return report.kind === 'text' ? failureIn(report.text) : report.kind === 'refused' ? report.message : undefined;
}

function failed(output: Output, reason: JobReason, error: string): JobResult {
  return { ...output, outcome: 'failed', reason, error: cleanLines(error, ERROR_CHARS) };
}

function unknown(output: Output, reason: JobReason, error: string): JobResult {
  return { ...output, outcome: 'unknown', reason, error };
}

/** Result of a job whose script did not run. */
export function neverRan(reason: JobReason, error: string): JobResult {
  return failed(NO_OUTPUT, reason, error);
}

/** The guard of a script that never ran fired: the router restored its configuration from shortly before. */
export function restoredWithoutRun(result: JobResult): JobResult {
  return failed(result, 'rolled_back', `${result.error}; the undo guard has restored the router's previous configuration`);
}

/** The guard may still fire, because it cannot be removed now. */
export function mayBeRestored(result: JobResult): JobResult {
  return {
    ...result,
    error: `${result.error}; the undo guard may still restore the router's previous configuration`.slice(0, ERROR_CHARS),
  };
}

/** The router is in its state before the script, and it is unknown whether the script ran. */
export const UNDONE_OR_NEVER_RAN: JobResult = unknown(NO_OUTPUT, 'interrupted', 'the script was undone or never ran');

/** Result of a begun job whose router was removed from the configuration. */
export const NEVER_KNOWN: JobResult = unknown(
  NO_OUTPUT,
  'interrupted',
  'the script had begun; its router is no longer in the configuration of its agent',
);
