import { expect, test } from 'vitest';
import { CommonCauses } from '../../../server/fleet/overview/causes.ts';
import type { Shares } from '../../../server/fleet/overview/causes.ts';
import type { RouterState, RouterStateName } from '../../../server/fleet/states/types.ts';

interface KnownRouter {
  state: RouterState;
  shares: Shares;
}

function commonCauses(routers: readonly KnownRouter[]) {
  const causes = new CommonCauses();
  for (const { state, shares } of routers) causes.add(state, shares);
  return causes.largest();
}

function router(state: RouterStateName, agent: string, site: string | null, since = 5): KnownRouter {
  return { state: { state, since, reason: null }, shares: { agent, site, address: null, version: '7.18' } };
}

test('names what routers that do not answer share, the largest group first, with all that share it', () => {
  const routers = [
    router('agent_away', 'a', 'hq', 7),
    router('agent_away', 'a', 'hq', 3),
    router('agent_away', 'a', null),
    router('not_answering', 'b', 'hq'),
    router('answering', 'b', 'hq'),
    router('answering', 'b', null),
    router('never_seen', 'c', null),
    router('never_seen', 'c', null),
  ];
  expect(commonCauses(routers)).toEqual([
    { kind: 'agent', value: 'a', away: 3, of: 3, since: 3 },
    { kind: 'site', value: 'hq', away: 3, of: 4, since: 3 },
    { kind: 'version', value: '7.18', away: 4, of: 8, since: 3 },
  ]);
});

test('says nothing of one router alone, and of a fleet that answers', () => {
  expect(commonCauses([router('agent_away', 'a', 'x'), router('answering', 'a', 'x')])).toEqual([]);
  expect(commonCauses([])).toEqual([]);
});

test('shows five groups of a kind at most', () => {
  const routers = Array.from({ length: 20 }, (_, index) => router('agent_away', `agent ${Math.floor(index / 2)}`, null));
  expect(commonCauses(routers).filter(({ kind }) => kind === 'agent')).toHaveLength(5);
});
