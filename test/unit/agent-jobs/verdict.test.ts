import { describe, expect, it } from 'vitest';
import { hasRebooted } from '../../../agent/jobs/boot.ts';
import type { Moment } from '../../../agent/jobs/boot.ts';
import { readMarker, wrapScript } from '../../../agent/jobs/run-marker.ts';
import type { Marker } from '../../../agent/jobs/run-marker.ts';
import { afterBrokenSession, freshProgress, nextStep, resumedProgress } from '../../../agent/jobs/steps.ts';
import type { Progress, Step } from '../../../agent/jobs/steps.ts';
import { judge } from '../../../agent/jobs/verdict/verdict.ts';
import type { Aftermath, RunReport } from '../../../agent/jobs/verdict/verdict.ts';

const ID = '018bcfe5-687f-7aaa-8aaa-0123456789ab';
const text = (printed: string, may: { mayReturn?: boolean; mayRaise?: boolean } = {}): RunReport => ({
  kind: 'text',
  text: printed,
  truncated: false,
  mayReturn: false,
  mayRaise: false,
  ...may,
});
const lost: RunReport = { kind: 'lost', late: false };
const after = (state: 'absent' | 'prepared' | 'begun' | 'done', more: Partial<Aftermath> = {}): Aftermath => ({
  marker: { state },
  running: false,
  rebooted: false,
  stopped: false,
  ...more,
});
const caught: Aftermath = { ...after('begun'), marker: { state: 'error', message: 'failure: no (/x; line 1)' } };

describe('the verdict on a run', () => {
  it.each<[string, RunReport, Aftermath, string]>([
    ['the marker says done', text('ok\n'), after('done'), 'completed'],
    ['the marker says done, whatever was printed', text('failure: only printed\n'), after('done'), 'completed'],
    ['the marker says done after a broken session', lost, after('done'), 'completed'],
    ['the marker says done after a reboot', lost, after('done', { rebooted: true }), 'completed'],
    ['the marker holds the error', text(''), caught, 'failed script_error'],
    ['the marker holds the error after a broken session', lost, caught, 'failed script_error'],
    ['the router refused the run', { kind: 'refused', message: 'no such item' }, after('prepared'), 'failed script_error'],
    ['the run ended without an error by :return', { kind: 'finished' }, after('begun'), 'completed'],
    ['nothing was sent', { kind: 'not_sent', message: 'no session' }, after('prepared'), 'failed rejected'],
    ['an error was printed', text('one\nno such item\n'), after('begun'), 'failed script_error'],
    ['the script ended early with only a text', text('my own error\n'), after('begun'), 'failed script_error'],
    ['the script may end early', text('', { mayReturn: true }), after('begun'), 'completed'],
    ['it ended early by :return or by :error', text('', { mayReturn: true, mayRaise: true }), after('begun'), 'unknown interrupted'],
    ['the console came back before the reboot', text(''), after('begun', { rebooted: true }), 'unknown router_rebooted'],
    ['the router lost the marker', text('ok\n'), after('absent'), 'unknown interrupted'],
    ['the session broke and the script is gone', lost, after('begun'), 'unknown interrupted'],
    ['the session broke before the script began', lost, after('prepared'), 'unknown interrupted'],
    ['the router rebooted', lost, after('begun', { rebooted: true }), 'unknown router_rebooted'],
    ['the script still runs', lost, after('begun', { running: true }), 'wait'],
    ['the script had its time', { kind: 'lost', late: true }, after('begun'), 'failed timed_out'],
    ['the script was stopped', lost, after('begun', { stopped: true }), 'failed timed_out'],
    ['the script may have ended just before it was stopped', lost, after('absent', { stopped: true }), 'unknown timed_out'],
  ])('when %s', (_what, report, aftermath, told) => {
    const verdict = judge(report, aftermath);
    expect(verdict === 'wait' ? verdict : [verdict.outcome, verdict.reason].filter(Boolean).join(' ')).toBe(told);
  });

  it('does not contain the wrapper’s repetition of the script’s error', () => {
    const printed = 'one\nno (:error; line 1) (:error; line 2)\n';
    expect(judge(text(printed), { ...after('begun'), marker: { state: 'error', message: 'no (:error; line 1)' } })).toMatchObject({
      outcome: 'failed',
      output: 'one\nno (:error; line 1)\n',
      error: 'no (:error; line 1)',
    });
    // Without the marker the wrapper has not raised it again.
    expect(judge(text('one\nno (:error; line 1)\n'), after('begun'))).toMatchObject({ output: 'one\nno (:error; line 1)\n' });
  });

  it('keeps 64 kB of output and says when there was more', () => {
    const verdict = judge(text('é'.repeat(40_000)), after('done'));
    expect(verdict).toMatchObject({ outcome: 'completed', output_truncated: true });
    expect(verdict).toMatchObject({ output: 'é'.repeat(32_768) });
  });
});

describe('the run marker', () => {
  it('is written by the first and the last statement of the stored script', () => {
    const source = wrapScript(ID, ':put 1', '6.49.10');
    expect(source.split('\n')).toEqual([
      `/system script set [find name="signalbox-${ID}"] source="# job ${ID} begun"; :put 1`,
      `/system script set [find name="signalbox-${ID}"] source="# job ${ID} done"`,
    ]);
  });

  it('catches an error with its message where the version can', () => {
    expect(wrapScript(ID, ':put 1', '7.12.2')).not.toContain('onerror');
    expect(wrapScript(ID, ':put 1', '7.13')).toContain(':onerror signalboxError in={ :put 1\n');
  });

  it.each<[string | undefined, Marker]>([
    [undefined, { state: 'absent' }],
    [wrapScript(ID, ':put 1', '7.18'), { state: 'prepared' }],
    [`# job ${ID} begun`, { state: 'begun' }],
    [`# job ${ID} begun\r\n`, { state: 'begun' }],
    [`# job ${ID} done`, { state: 'done' }],
    [`# job ${ID} error failure: x`, { state: 'error', message: 'failure: x' }],
    ['# job another done', { state: 'prepared' }],
  ])('is read back from %j', (source, marker) => {
    expect(readMarker(ID, source)).toEqual(marker);
  });
});

describe('the steps of a job', () => {
  const at = (changes: Partial<Progress>): Progress => ({ ...freshProgress(), ...changes });
  const seen = { version: '7.18.2', marker: { state: 'absent' } } as const;

  it.each<[string, Progress, Step]>([
    ['first of all', freshProgress(), 'identify'],
    ['on the right device', at({ version: '7.18.2' }), 'inspect'],
    ['without a marker', at(seen), 'check_syntax'],
    ['with a marker of a run this journal does not know', at({ ...seen, marker: { state: 'done' } }), 'record_run'],
    ['after the syntax check', at({ ...seen, isChecked: true }), 'back_up'],
    ['after the backup', at({ ...seen, isChecked: true, isBackedUp: true }), 'prepare'],
    ['once stored', at({ ...seen, isChecked: true, isBackedUp: true, isPrepared: true }), 'begin'],
    ['after BEGIN', at({ isBegun: true }), 'run'],
    ['after the run', at({ isBegun: true, report: lost }), 'resolve'],
    ['begun by an earlier process', resumedProgress(), 'resolve'],
    ['with a result', at({ result: { outcome: 'completed', reason: null, error: null, output: null, output_truncated: false } }), 'end'],
  ])('%s', (_when, progress, step) => {
    expect(nextStep(progress, { make_backup: true })).toBe(step);
  });

  it('read the router again after a broken session, but do not take a second backup', () => {
    const progress = at({ ...seen, isChecked: true, isBackedUp: true, isPrepared: true });
    expect(nextStep(afterBrokenSession(progress), { make_backup: true })).toBe('identify');
    expect(nextStep({ ...afterBrokenSession(progress), ...seen }, { make_backup: true })).toBe('prepare');
  });
});

describe('a reboot', () => {
  /** By the monotonic clock; the marks' own times are far apart. */
  const at = (ms: number, uptime: number | null): Moment => ({ at: ms, mark: { at: ms ** 2, uptime_seconds: uptime } });
  const begun = at(1_000_000, 5000);

  it.each([
    ['is seen when the uptime goes back', at(1_060_000, 10), true],
    ['is seen when the router has been up for less than the time since', at(11_000_000, 6000), true],
    ['is not seen when the uptime goes on', at(1_060_000, 5060), false],
    ['is not seen when clocks differ a little', at(1_160_000, 5100), false],
    ['is not claimed when the uptime is not known', at(1_060_000, null), false],
  ])('%s', (_what, now, rebooted) => {
    expect(hasRebooted(begun, now)).toBe(rebooted);
  });
});
