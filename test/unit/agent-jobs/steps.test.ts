import { expect, test } from 'vitest';
import { afterBrokenSession, freshProgress, hasBegun, nextStep, resumedProgress } from '../../../agent/jobs/steps.ts';
import type { Progress } from '../../../agent/jobs/steps.ts';
import type { Marker } from '../../../agent/jobs/run-marker.ts';

const RESULT = { outcome: 'unknown' } as unknown as NonNullable<Progress['result']>;
const FLAGS = ['isChecked', 'isBackedUp', 'isPrepared', 'isUnused', 'isArmed', 'isGuardLeft', 'isBegun'] as const;
const MARKERS = [undefined, { state: 'absent' }, { state: 'prepared' }, { state: 'begun' }] as (Marker | undefined)[];
const OFFERS = [true, false].flatMap((backup) =>
  [undefined, 60].map((undo) => ({ make_backup: backup, ...(undo ? { undo_unless_reachable_seconds: undo } : {}) })),
);

/** Every combination of progress, including those that no run reaches. */
function* everyProgress(): Generator<Progress> {
  for (let bits = 0; bits < 2 ** FLAGS.length; bits += 1) {
    const flags = Object.fromEntries(FLAGS.map((name, at) => [name, (bits & (1 << at)) !== 0]));
    for (const version of [undefined, '7.18.2']) {
      for (const marker of MARKERS) {
        for (const report of [undefined, { kind: 'lost', late: false } as const]) {
          for (const verdict of [undefined, RESULT]) {
            for (const result of [undefined, RESULT]) yield { ...freshProgress(), ...flags, version, marker, report, verdict, result };
          }
        }
      }
    }
  }
}

/** The combinations whose next step is `step`, as one list of what is wrong with them. */
function wrongAt(step: string, isRight: (progress: Progress, offer: (typeof OFFERS)[number]) => boolean): string[] {
  const wrong: string[] = [];
  for (const progress of everyProgress()) {
    for (const offer of OFFERS) {
      if (nextStep(progress, offer) === step && !isRight(progress, offer)) wrong.push(JSON.stringify({ progress, offer }));
    }
  }
  return wrong;
}

test('the script runs only after BEGIN, and only if no call of it was made or lost', () => {
  expect(wrongAt('run', (progress) => progress.isBegun && progress.report === undefined && !progress.result && !progress.verdict)).toEqual(
    [],
  );
});

test('BEGIN is written only when all steps are done on the right router, and there is no trace of an earlier run', () => {
  expect(
    wrongAt(
      'begin',
      (progress, offer) =>
        progress.isChecked &&
        progress.isPrepared &&
        progress.version !== undefined &&
        progress.marker !== undefined &&
        !hasBegun(progress.marker) &&
        (!offer.make_backup || progress.isBackedUp) &&
        (offer.undo_unless_reachable_seconds === undefined || progress.isArmed),
    ),
  ).toEqual([]);
});

test('END is written only with a result, and not while a guard may be left on the router', () => {
  expect(wrongAt('end', (progress) => progress.result !== undefined && !progress.isGuardLeft)).toEqual([]);
});

test('a guard is removed before any slow step, unless it was just armed', () => {
  for (const step of ['check_syntax', 'back_up', 'arm', 'prepare', 'begin']) {
    expect(
      wrongAt(step, (progress) => !progress.isGuardLeft || progress.isArmed),
      step,
    ).toEqual([]);
  }
});

test('a run with a marker on the router is never prepared or begun again', () => {
  for (const step of ['check_syntax', 'back_up', 'arm', 'prepare', 'begin', 'run']) {
    expect(
      wrongAt(step, ({ isBegun, marker }) => isBegun || marker === undefined || !hasBegun(marker)),
      step,
    ).toEqual([]);
  }
});

test('a job that an earlier process began is never run again', () => {
  for (const offer of OFFERS) {
    for (const marker of MARKERS) expect(nextStep({ ...resumedProgress(), marker, version: '7.18.2' }, offer)).toBe('resolve');
  }
});

test('after a broken session before BEGIN the router is identified again, and lasting steps are not repeated', () => {
  for (const progress of everyProgress()) {
    if (progress.isBegun || progress.result || progress.verdict) continue;
    const after = afterBrokenSession(progress);
    for (const offer of OFFERS) expect(nextStep(after, offer)).toBe('identify');
    expect(after).toMatchObject({
      isChecked: progress.isChecked,
      isBackedUp: progress.isBackedUp,
      isUnused: progress.isUnused,
      isGuardLeft: progress.isGuardLeft,
    });
  }
});
