import type { Migration } from './types.ts';

/** Whether the agent's own rules forbid the target of a forward, so that it will never be opened. */
function statements(): string[] {
  return ['alter table forwards add column refused smallint not null default 0'];
}

export const refusedForwards: Migration = { number: 16, name: 'refused forwards', statements };
