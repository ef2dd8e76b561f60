import { sayCauses } from '../../server/platform/notices/causes.ts';
import type { Cause } from '../../server/platform/notices/causes.ts';
import type { FaultChange } from '../../server/fleet/faults/types.ts';

/** A cause for tests that do not care which. */
export const SOME_CAUSES: readonly Cause[] = [{ code: 'no_answer', reason: '', said: 'a test' }];

/** Changes with the cause as people read it. */
export function inWords(changes: readonly FaultChange[]): unknown[] {
  return changes.map((change) =>
    'finding' in change ? { ...change, finding: { message: change.finding.message, cause: sayCauses(change.finding.causes) } } : change,
  );
}
