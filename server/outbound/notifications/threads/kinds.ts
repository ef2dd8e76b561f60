import { FAULT_SEVERITY } from '../../../fleet/faults/types.ts';
import { OTHER_NOTICE_KINDS } from '../../../platform/notices/types.ts';
import { DIGEST_KIND } from './gather.ts';
import { DELIVERY_FAILING } from './match.ts';
import { TEST_KIND } from './new-thread.ts';

/** Every kind that a thread can have: that of its facts, or of what it stands for. */
export const THREAD_KINDS: readonly string[] = [
  ...Object.keys(FAULT_SEVERITY).map((type) => `fault.${type}`),
  ...OTHER_NOTICE_KINDS,
  DELIVERY_FAILING,
  'site',
  'agent_routers',
  'storm',
  'contact_lost',
  'several',
  DIGEST_KIND,
  TEST_KIND,
];
