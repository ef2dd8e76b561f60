import { AsyncLocalStorage } from 'node:async_hooks';

/** Releases the slot of the request that the running code serves. */
const slots = new AsyncLocalStorage<() => void>();

/** @param release may be called more than once, also long after the request has ended */
export function runInSlot<T>(release: () => void, work: () => T): T {
  return slots.run(release, work);
}

/**
 * Call it before a wait for a router or for another company's server. The request then no longer counts as in progress
 * (`platform/http/admission.ts`), and another one is admitted. Never call it before a wait for the processor or the database: that
 * would start more of that work than can be done. Outside of a request it does nothing.
 */
export function releaseAdmissionSlot(): void {
  slots.getStore()?.();
}

/** Whether the running code serves a request. */
export function isInSlot(): boolean {
  return slots.getStore() !== undefined;
}
