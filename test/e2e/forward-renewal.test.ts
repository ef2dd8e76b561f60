import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { AgentError } from '../../agent/core/errors.ts';
import type { ApiCommand, RouterAdapter } from '../../agent/routers/adapter.ts';
import { FORWARD_ID, ForwardBranches, SOON, entriesOf, forwardingOf, openParams, rulesOf } from '../harness/forward-branch.ts';
import { ManualTime } from '../simulator/index.ts';
import type { Simulator, SimulatorOptions } from '../simulator/index.ts';

/** The end of an open forward is changed: the router's own fail-safe follows, whatever step the agent is killed at. */

let branches: ForwardBranches;
let time: ManualTime;

beforeEach(() => {
  branches = new ForwardBranches();
  time = new ManualTime();
});
afterEach(async () => {
  vi.restoreAllMocks();
  await branches.close();
});

const MINUTE = 60_000;
/** The router's margin, and its interval between two looks. */
const MARGIN = 61_000 + 300_000;
const LONGER = 60 * MINUTE;
const SHORTER = 5 * MINUTE;
const FORMER = 20 * MINUTE;

const KINDS: [name: string, options: Partial<SimulatorOptions>][] = [
  ['RouterOS 6.49.10', { version: '6.49.10' }],
  ['RouterOS 7.18.2', { version: '7.18.2' }],
  ['RouterOS 7.18.2, whose device-mode forbids the scheduler', { version: '7.18.2', deviceMode: 'home' }],
];

const isOpen = (simulator: Simulator): boolean => rulesOf(simulator).length === 2;
const scriptsOf = (simulator: Simulator): number =>
  simulator.items('/system/script/job').filter((job) => job['script']?.startsWith('signalbox-')).length;
const failSafes = (simulator: Simulator): number => entriesOf(simulator).length + scriptsOf(simulator);
const nothingLeft = (simulator: Simulator): boolean =>
  rulesOf(simulator).length === 0 &&
  entriesOf(simulator).length === 0 &&
  simulator.items('/system/script').every((script) => !script['name']?.startsWith('signalbox-'));

describe.each(KINDS)('a forward by rules on %s', (_, options) => {
  async function opened(): Promise<{ simulator: Simulator; router: RouterAdapter; renew: (expiresInMs: number) => Promise<unknown> }> {
    const { simulator, router } = await branches.branch({ api: true }, { ...options, time });
    const agent = await branches.agent(router);
    const renew = (expiresInMs: number): Promise<unknown> => agent.open(openParams(router, 443, { expires_in_ms: expiresInMs }), SOON);
    expect(await renew(FORMER)).toMatchObject({ way: 'api', renewed: true });
    return { simulator, router, renew };
  }

  it('that is extended stays on the router until the new end, and no longer', async () => {
    const { simulator, renew } = await opened();
    const before = rulesOf(simulator);
    expect(await renew(LONGER)).toMatchObject({ way: 'api', renewed: true });
    expect(rulesOf(simulator)).toEqual(before);
    branches.killAgents();
    await time.advance(LONGER);
    expect(isOpen(simulator)).toBe(true);
    await time.advance(MARGIN);
    expect(nothingLeft(simulator)).toBe(true);
  });

  it('that is shortened leaves the router at the new end', async () => {
    const { simulator, renew } = await opened();
    await renew(SHORTER);
    branches.killAgents();
    await time.advance(SHORTER);
    expect(isOpen(simulator)).toBe(true);
    await time.advance(MARGIN);
    expect(nothingLeft(simulator)).toBe(true);
  });

  it('writes nothing to the router when its end stays', async () => {
    const { router, renew } = await opened();
    const command = vi.spyOn(router, 'command');
    await renew(FORMER + 1000);
    expect(command).not.toHaveBeenCalled();
  });

  it.each([
    ['extended', LONGER],
    ['shortened', SHORTER],
  ])('that is %s always has a fail-safe, and ends at the former or the new time if the agent is killed at any step', async (_how, end) => {
    // How many commands there are; each run then dies one command later.
    let steps = 1;
    for (let alive = 0; alive < steps; alive += 1) {
      const { simulator, router, renew } = await opened();
      const run = router.command.bind(router);
      let used = 0;
      let fewest = failSafes(simulator);
      vi.spyOn(router, 'command').mockImplementation(async (asked: ApiCommand, deadline) => {
        used += 1;
        if (used > alive) throw new AgentError('router_unreachable', 'the agent is dead');
        const reply = await run(asked, deadline);
        fewest = Math.min(fewest, failSafes(simulator));
        return reply;
      });
      const isDone = await renew(end).then(
        () => true,
        () => false,
      );
      expect(fewest).toBeGreaterThan(0);
      if (!isDone) steps = alive + 2;
      branches.killAgents();
      await time.advance(Math.min(end, FORMER) - 1000);
      expect(isOpen(simulator)).toBe(true);
      await time.advance(Math.max(end, FORMER) - Math.min(end, FORMER) + 1000 + MARGIN);
      expect(nothingLeft(simulator)).toBe(true);
      vi.restoreAllMocks();
    }
    expect(steps).toBeGreaterThan(3);
  });

  it('whose router refuses to answer meanwhile gets the new end with the next request', async () => {
    const { simulator, router, renew } = await opened();
    const command = vi.spyOn(router, 'command').mockRejectedValue(new AgentError('router_unreachable', 'no route'));
    await expect(renew(LONGER)).rejects.toMatchObject({ code: 'router_unreachable' });
    command.mockRestore();
    await renew(LONGER);
    branches.killAgents();
    await time.advance(LONGER);
    expect(isOpen(simulator)).toBe(true);
    await time.advance(MARGIN);
    expect(nothingLeft(simulator)).toBe(true);
  });
});

describe.each(KINDS)('forwarding over SSH on %s', (_, options) => {
  it.each([
    ['extended', LONGER],
    ['shortened', SHORTER],
  ])('of a forward that is %s is switched back by the router at the new end', async (_how, end) => {
    const { simulator, router } = await branches.branch({ api: true, ssh: true }, { ...options, time });
    const agent = await branches.agent(router);
    const port = await branches.echoService();
    await agent.open(openParams(router, port, { expires_in_ms: FORMER }), SOON);
    expect(await agent.open(openParams(router, port, { expires_in_ms: end }), SOON)).toMatchObject({ way: 'ssh', renewed: true });
    branches.killAgents();
    await time.advance(end);
    expect(forwardingOf(simulator)).toBe('local');
    await time.advance(MARGIN);
    expect(forwardingOf(simulator)).toBe('no');
    expect(nothingLeft(simulator)).toBe(true);
  });

  it('outlasts a shortened forward while another one needs it', async () => {
    const { simulator, router } = await branches.branch({ api: true, ssh: true }, { ...options, time });
    const agent = await branches.agent(router);
    const port = await branches.echoService();
    const other = { forward_id: '01900000-0000-7000-8000-000000000002', expires_in_ms: FORMER };
    await agent.open(openParams(router, port, other), SOON);
    await agent.open(openParams(router, port, { expires_in_ms: LONGER }), SOON);
    await agent.open(openParams(router, port, { forward_id: FORWARD_ID, expires_in_ms: SHORTER }), SOON);
    branches.killAgents();
    await time.advance(FORMER);
    expect(forwardingOf(simulator)).toBe('local');
    await time.advance(MARGIN);
    expect(forwardingOf(simulator)).toBe('no');
  });
});
