import { describe, expect, test } from 'vitest';
import { Members } from '../../../server/platform/nodes/members.ts';
import { Elsewhere } from '../../../server/work/forwards/cluster/elsewhere.ts';
import type { ElsewhereDeps } from '../../../server/work/forwards/cluster/elsewhere.ts';

const NODES = ['a', 'b', 'c'];
const ROUTERS = Array.from({ length: 40 }, (_, number) => `router-${number}`);

/** The control plane that node `a` has a forward created at; undefined: here. */
async function homeOf(
  routerId: string,
  at: { holder: string | undefined; draining?: string[]; nodes?: string[] },
): Promise<string | undefined> {
  const members = new Members('a', at.nodes ?? NODES);
  members.set(at.nodes ?? NODES, at.draining);
  const elsewhere = new Elsewhere({
    cluster: { nodeId: 'a', members, holder: async () => at.holder },
    routers: { getRouter: async () => ({ agent_id: 'agent' }) },
    gateway: { epoch: () => (at.holder === 'a' ? 1 : undefined) },
    others: { create: async (home: string) => home },
  } as unknown as ElsewhereDeps);
  return elsewhere.create('team', routerId, {} as never, {} as never);
}

async function homesOf(at: Parameters<typeof homeOf>[1]): Promise<string[]> {
  const homes = await Promise.all(ROUTERS.map((routerId) => homeOf(routerId, at)));
  return [...new Set(homes.map((home) => home ?? 'here'))].sort();
}

describe('the home of a new forward', () => {
  test('is the control plane that has the agent', async () => {
    expect(await homesOf({ holder: 'b' })).toEqual(['b']);
    expect(await homesOf({ holder: 'a' })).toEqual(['here']);
  });

  test('is the one that is asked when nobody has the agent, or one that is gone', async () => {
    expect(await homesOf({ holder: undefined })).toEqual(['here']);
    expect(await homesOf({ holder: 'gone' })).toEqual(['here']);
  });

  test('is not one that gives its work away, whoever is asked', async () => {
    expect(await homesOf({ holder: 'b', draining: ['b'] })).toEqual(['c', 'here']);
    expect(await homesOf({ holder: 'a', draining: ['a'] })).toEqual(['b', 'c']);
    expect(await homesOf({ holder: undefined, draining: ['a', 'b'] })).toEqual(['c']);
  });

  test('is the one that has the agent when all give their work away, and this one alone', async () => {
    expect(await homesOf({ holder: 'b', draining: NODES })).toEqual(['b']);
    expect(await homesOf({ holder: 'a', draining: ['a'], nodes: ['a'] })).toEqual(['here']);
  });
});
