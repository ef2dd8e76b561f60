import { AsyncLocalStorage } from 'node:async_hooks';

/** Gives the place up of the request that the running code works for. */
const places = new AsyncLocalStorage<() => void>();

/** @param leave may be called more than once, also long after the request has ended */
export function workInPlace<T>(leave: () => void, work: () => T): T {
  return places.run(leave, work);
}

/**
 * To be called before a wait for somebody outside: a router, another company's server. The request then no longer counts as worked on
 * (`platform/http/admission.ts`), so that others are let in. Never before a wait for the processor or the database: whoever lets others
 * in then has more of that work begun than can be done. Outside of a request it does nothing.
 */
export function leavePlace(): void {
  places.getStore()?.();
}
