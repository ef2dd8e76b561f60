import { z } from 'zod';

/** Far more than there are kinds of events. */
const MAX_ENTRIES = 50;

const entry = z
  .string()
  .max(100)
  .regex(/^(?:[a-z_]+\.)*(?:[a-z_]+|\*)$/, 'must be like fault.router_offline or fault.*');

/** Kinds of facts, each alone or all with a prefix. */
export const kindEntries = z.array(entry).max(MAX_ENTRIES);
