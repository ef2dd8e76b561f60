import type { TestContext } from 'vitest';
import { NODES } from './shared-engines.ts';

/** Skips a test that is about one process by nature while several control planes serve its world (`TEST_NODES`), and shows why. */
export function oneNodeOnly({ skip }: TestContext, isSpread: boolean, reason: string): void {
  skip(NODES > 1 && isSpread, `with several control planes: ${reason}`);
}
