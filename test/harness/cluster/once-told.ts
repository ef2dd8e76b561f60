import { eventually } from '../wait-until.ts';
import { NODES } from './shared-engines.ts';

/**
 * Checks what one control plane must say at once. Of several (`TEST_NODES`), each request is answered by another one, which may know what the
 * one before has answered only a moment later: there the check is repeated until it passes.
 */
export async function onceTold(check: () => Promise<void>): Promise<void> {
  await (NODES === 1 ? check() : eventually(check));
}
