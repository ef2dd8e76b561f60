import { beforeEach, describe, expect, it, vi } from 'vitest';
import { AgentError } from '../../../agent/core/errors.ts';
import { LeftoverSearch } from '../../../agent/forward/leftover-search.ts';
import { FakeRouter } from '../../harness/fake-router.ts';
import { ManualClock } from '../../harness/manual-clock.ts';
import { silentLog } from '../../harness/silent-log.ts';
import { waitUntil } from '../../harness/wait-until.ts';

/** A router that stays up emits no state change that would start a search for leftovers. */

const TAG = 'signalbox-0badcafe';
const NAT = '/ip/firewall/nat';

let clock: ManualClock;
let router: FakeRouter;
let search: LeftoverSearch;
/** Comments of the rules on the router, and the error that it returns instead of an answer. */
let rules: string[];
let failure: AgentError | undefined;
let open: string[];

beforeEach(() => {
  clock = new ManualClock();
  router = new FakeRouter();
  rules = [`${TAG}-1`, 'defconf'];
  failure = undefined;
  open = [];
  router.onCommand = ({ path, words }) => {
    if (failure) throw failure;
    if (path === `${NAT}/print`) return { rows: rules.map((comment) => ({ '.id': comment, comment })) };
    if (path === `${NAT}/remove`) {
      const ids = words[0]!.slice('=.id='.length).split(',');
      if (!ids.every((id) => rules.includes(id))) throw new AgentError('rejected', 'no such item');
      rules = rules.filter((rule) => !ids.includes(rule));
    }
    return { rows: [] };
  };
  search = new LeftoverSearch({ agentTag: () => Promise.resolve(TAG), isOpen: (id) => open.includes(id), clock, log: silentLog });
});

const searches = (): number => router.commands.filter(({ path }) => path === `${NAT}/print`).length;
const removed = (): Promise<unknown> => waitUntil('it is removed', () => !rules.includes(`${TAG}-1`));
/** Waits until the work of a timer is over: it has set the next one, or there is none to set. */
const turn = (): Promise<void> => search.searchNow();

describe('a router with leftovers', () => {
  it('is searched soon, without a change of its state', async () => {
    search.suspect(router);
    clock.advance(4999);
    expect(searches()).toBe(0);
    clock.advance(1);
    await removed();
    expect(rules).toEqual(['defconf']);
    await turn();
    expect(clock.pending).toBe(0);
  });

  it('is searched again until the search succeeds, with growing waits of at most five minutes', async () => {
    failure = new AgentError('outcome_unknown', 'no answer');
    search.suspect(router);
    const waits = [5, 10, 20, 40, 80, 160, 300, 300];
    for (const [index, seconds] of waits.entries()) {
      clock.advance(seconds * 1000 - 1);
      expect(searches()).toBe(index);
      clock.advance(1);
      await turn();
      expect(searches()).toBe(index + 1);
    }
    failure = undefined;
    clock.advance(300_000);
    await removed();
    await turn();
    expect(clock.pending).toBe(0);
  });

  it('is searched before the end of a forward is confirmed', async () => {
    search.suspect(router);
    await search.searchNow();
    expect(rules).toEqual(['defconf']);
    await search.searchNow();
    expect(searches()).toBe(1);
  });

  it('does not delay the end of a forward after it refused: the timer retries', async () => {
    failure = new AgentError('outcome_unknown', 'no answer');
    search.suspect(router);
    await search.searchNow();
    await search.searchNow();
    expect(searches()).toBe(1);
    expect(clock.pending).toBe(1);
  });

  it('is searched once more for leftovers that appear during a search', async () => {
    rules = [];
    search.suspect(router);
    const first = search.search(router);
    await waitUntil('it looks', () => searches() === 1);
    rules = [`${TAG}-1`];
    search.suspect(router);
    await search.searchNow();
    await first;
    expect(rules).toEqual([]);
  });

  it('keeps everything that belongs to an open forward', async () => {
    open = ['1'];
    search.suspect(router);
    await search.searchNow();
    expect(rules).toEqual([`${TAG}-1`, 'defconf']);
  });

  it('is not searched while it is unreachable, nor after the stop', async () => {
    router.reachable = false;
    search.suspect(router);
    clock.advance(600_000);
    await search.searchNow();
    router.reachable = true;
    await search.stop();
    await search.searchNow();
    expect(router.commands).toEqual([]);
    expect(clock.pending).toBe(0);
  });
});

it('a new device is searched, one that stays is not', async () => {
  search.seen(router);
  await search.search(router);
  expect(rules).toEqual(['defconf']);
  search.seen(router);
  await search.search(router);
  expect(searches()).toBe(1);
});

it('a device that returns after a replacement is searched, because nothing could be removed from it meanwhile', async () => {
  const real = router.state();
  const answers = async (hardwareId: string): Promise<void> => {
    state.mockReturnValue({ ...real, facts: { ...real.facts!, hardwareId } });
    search.seen(router);
    await search.search(router);
  };
  const state = vi.spyOn(router, 'state');
  await answers('first');
  await answers('second');
  rules.push(`${TAG}-1`);
  await answers('second');
  expect(rules).toEqual(['defconf', `${TAG}-1`]);
  await answers('first');
  expect(rules).toEqual(['defconf']);
});

it('a concurrent removal is not an error', async () => {
  const answer = router.onCommand;
  rules.push(`${TAG}-2`);
  router.onCommand = (command) => {
    if (command.path === `${NAT}/remove`) rules = rules.filter((rule) => rule !== `${TAG}-1`);
    return answer(command);
  };
  search.suspect(router);
  await search.searchNow();
  expect(rules).toEqual(['defconf']);
  expect(clock.pending).toBe(0);
});
