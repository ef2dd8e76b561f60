const STATES = ['sent', 'pending', 'held', 'withheld', 'superseded', 'failed'] as const;
export type MessageState = (typeof STATES)[number];

/** What the address of the log holds. */
export interface LogSearch {
  state?: MessageState;
  /** A person or a channel, by id. */
  to?: string;
  group?: string;
}

export function readLogSearch({ state, to, group }: Record<string, unknown>): LogSearch {
  return {
    ...(STATES.includes(state as MessageState) ? { state: state as MessageState } : {}),
    ...(typeof to === 'string' && to !== '' ? { to } : {}),
    ...(typeof group === 'string' && group !== '' ? { group } : {}),
  };
}

/** What the address of the threads holds. */
export interface ThreadsSearch {
  state?: 'closed' | 'all';
}

export function readThreadsSearch({ state }: Record<string, unknown>): ThreadsSearch {
  return state === 'closed' || state === 'all' ? { state } : {};
}

/** What the address of a question holds. */
export interface ExplainSearch {
  /** As topics name it: `fault.router_offline`. */
  kind?: string;
  router?: string | undefined;
  /** Of a field for date and time; without it: now. */
  at?: string | undefined;
}

export function readExplainSearch({ kind, router, at }: Record<string, unknown>): ExplainSearch {
  return {
    ...(typeof kind === 'string' && kind !== '' ? { kind } : {}),
    ...(typeof router === 'string' && router !== '' ? { router } : {}),
    ...(typeof at === 'string' && !Number.isNaN(Date.parse(at)) ? { at } : {}),
  };
}
