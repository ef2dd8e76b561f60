import { hasKind } from '../../../../platform/notices/patterns.ts';
import type { Digest } from '../../contacts/types.ts';
import { kindsOf } from '../../threads/apply.ts';
import { DELIVERY_FAILING } from '../../threads/match.ts';
import type { Revision } from '../../threads/types.ts';

/** What a person reads in a digest instead of at once. Pure. */

/** Calls for help, and what somebody waits for, come at once. */
const CAN_WAIT: ReadonlySet<Revision['kind']> = new Set(['open', 'update', 'resolve', 'still_open']);

export function canWait({ kinds }: Digest, { thread, kind }: Revision): boolean {
  if (!CAN_WAIT.has(kind) || thread.severity === 'critical' || thread.kind === DELIVERY_FAILING) return false;
  const told = kindsOf(thread);
  return thread.severity === 'info' || (told.length > 0 && told.every((one) => hasKind(kinds, one)));
}
