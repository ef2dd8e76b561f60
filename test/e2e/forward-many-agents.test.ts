import { afterEach, expect, test, vi } from 'vitest';
import { LiveForward } from '../../server/work/forwards/live-forward.ts';
import { ForwardWorld } from '../harness/forward-world.ts';
import { waitUntil } from '../harness/wait-until.ts';

/** What open forwards cost agents that have none of them. */

let world: ForwardWorld;
afterEach(async () => {
  vi.restoreAllMocks();
  await world.close();
});

test('agents that connect look at no forward of another agent, and each opens its own again', async () => {
  world = await ForwardWorld.open();
  for (let number = 0; number < 5; number += 1) await world.create({ dstPort: 9 });
  const looks = vi.spyOn(LiveForward.prototype, 'agentId', 'get');
  const asked = vi.spyOn(LiveForward.prototype, 'wasRequestedOn');
  for (let number = 0; number < 20; number += 1) {
    const other = { ...world.connection, agentId: `another agent ${number}` };
    world.forwards.onReady(other);
    world.forwards.onRouterSeen(other, `another router ${number}`);
  }
  expect(looks).not.toHaveBeenCalled();
  expect(asked).not.toHaveBeenCalled();
  const open = vi.spyOn(world.gateway, 'request');
  world.gateway.currentEpoch += 1;
  world.forwards.onReady(world.connection);
  expect(asked).toHaveBeenCalledTimes(5);
  await waitUntil('its forwards are open again', () => open.mock.calls.filter(([, method]) => method === 'forward.open').length === 5);
});
