import { AsyncLocalStorage } from 'node:async_hooks';

/** What is known of the request that the running code serves. */
export interface AdmissionSlot {
  /** May be called more than once, also long after the request has ended. */
  release: () => void;
  /** The request has ended. Timers and loops that it has started run on in its context. */
  isOver: boolean;
}

const slots = new AsyncLocalStorage<AdmissionSlot>();

export function runInSlot<T>(slot: AdmissionSlot, work: () => T): T {
  return slots.run(slot, work);
}

/**
 * Call it before a wait for a router or for another company's server. The request then no longer counts as in progress
 * (`platform/http/admission.ts`), and another one is admitted. Never call it before a wait for the processor or the database: that
 * would start more of that work than can be done. Outside of a request it does nothing.
 */
export function releaseAdmissionSlot(): void {
  slots.getStore()?.release();
}

/** Whether the running code serves a request that has not ended. */
export function isInSlot(): boolean {
  return slots.getStore()?.isOver === false;
}
