import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { NatPorts } from '../../../agent/forward/nat-ports.ts';
import { cutConnections, findMarked, removeRules } from '../../../agent/forward/nat-rules.ts';
import type { RouterAdapter } from '../../../agent/routers/adapter.ts';
import { AgentRouters, reachable } from '../../harness/agent-router.ts';
import type { Simulator } from '../../simulator/index.ts';

/** Which rules of a router are the agent's own to remove. */

const SOON = { timeoutMs: 10_000 };
const NAT = '/ip/firewall/nat';
const MARK = 'signalbox-test-1';

let routers: AgentRouters;
let simulator: Simulator;
let router: RouterAdapter;

beforeEach(async () => {
  routers = new AgentRouters();
  simulator = await routers.simulate({ sshPort: null, blank: true });
  router = await routers.adapter(routers.config(simulator, { api: true }));
  await reachable(router);
});
afterEach(() => routers.close());

function rule(comment: string, values: Record<string, string> = {}, dynamic = false): string {
  const all = { chain: 'dstnat', action: 'accept', protocol: 'tcp', comment, disabled: 'false', ...values };
  return simulator.router.table(NAT).add(Object.entries(all), { dynamic }).id;
}

test('only static rules with the exact mark are removed; dynamic rules stay, whatever their comment', async () => {
  const own = rule(MARK);
  const others = [rule(`${MARK}0`), rule('defconf'), rule(MARK, {}, true)];
  expect(await findMarked(router, (comment) => comment === MARK, SOON)).toMatchObject([{ id: own }]);
  await removeRules(router, MARK, SOON);
  expect(simulator.items(NAT).map((item) => item['.id'])).toEqual(others);
});

test('a NAT port is one that no rule uses', async () => {
  for (const port of ['61000', '61001,61003-61005', '61002']) rule('somebody', { 'dst-port': port });
  expect(await new NatPorts(() => 0).take(router, SOON)).toMatchObject({ number: 61_006 });
});

test('NAT ports that are chosen at the same time differ, and a released one is free again', async () => {
  const natPorts = new NatPorts(() => 0);
  const [first, second] = await Promise.all([natPorts.take(router, SOON), natPorts.take(router, SOON)]);
  expect(new Set([first.number, second.number])).toEqual(new Set([61_000, 61_001]));
  const lower = first.number === 61_000 ? first : second;
  lower.giveBack();
  expect(await natPorts.take(router, SOON)).toMatchObject({ number: 61_000 });
});

test('connections are cut even if one of them has just ended', async () => {
  const table = simulator.router.table('/ip/firewall/connection');
  const add = (source: string, port: number): string =>
    table.add(
      [
        ['protocol', 'tcp'],
        ['src-address', `${source}:50000`],
        ['dst-address', `127.0.0.1:${port}`],
      ],
      { dynamic: true },
    ).id;
  const [ended] = [add('10.0.0.2', 61_000), add('10.0.0.2', 61_000)];
  const others = [add('10.0.0.20', 61_000), add('10.0.0.2', 61_001)];
  const command = router.command.bind(router);
  vi.spyOn(router, 'command').mockImplementation(async (asked, deadline) => {
    const item = table.byId(ended);
    if (asked.path.endsWith('/remove') && item) table.remove(item);
    return command(asked, deadline);
  });
  await cutConnections(router, { mark: MARK, source: '10.0.0.2', natPort: 61_000, target: { host: '192.168.88.10', port: 443 } }, SOON);
  expect(table.items.map(({ id }) => id)).toEqual(others);
});
