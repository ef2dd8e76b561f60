import { expect, it } from 'vitest';
import { presentRouter } from '../../../server/fleet/routers/routes.ts';
import type { RouterRecord } from '../../../server/fleet/routers/types.ts';

const MINUTE = 60_000;
const record = { id: 'r', agent_id: 'a', created_at: 0, removed_at: null, terminal_levels: null } as RouterRecord;

/** What a reader is told when the agent has just said that the router answers, and its state is this one since then. */
function seen(state: 'answering' | 'not_answering' | 'agent_away', sinceMinute: number): string | null {
  const lastSeenAt = 10 * MINUTE;
  const presence = { reachable: false, uptimeSeconds: null, lastSeenAt, lastSeenFrom: null };
  const routers = { presence: { get: () => presence, uptimeSeconds: () => null, isAnswering: () => false } };
  const states = { of: () => ({ state, since: sinceMinute * MINUTE, reason: null }) };
  const deps = { routers, states, now: () => 12 * MINUTE } as unknown as Parameters<typeof presentRouter>[1];
  return presentRouter(record, deps, new Map()).last_seen_at;
}

it.each([
  ['not_answering', 8, 8],
  ['not_answering', 11, 10],
  ['agent_away', 8, 10],
  ['answering', 8, 10],
] as const)('a router that is %s since minute %i was last seen in minute %i', (state, since, last) => {
  expect(seen(state, since)).toBe(new Date(last * MINUTE).toISOString());
});
