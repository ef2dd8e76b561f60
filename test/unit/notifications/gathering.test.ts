import { describe, expect, it } from 'vitest';
import { agentRoutersKey, bothKeys, faultOfPlace, siteKey } from '../../../server/outbound/notifications/threads/gather.ts';
import { ThreadSimulation } from '../../harness/thread-simulation.ts';

const SECOND = 1000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;

const SITE = 'site:madrid:router_offline';

/** Routers of one site, or of none. */
function routersAt(group: ThreadSimulation, count: number, site: string | null = 'madrid', agent: string | null = null): string[] {
  const routers = Array.from({ length: count }, (_, n) => `r${n}`);
  for (const router of routers) group.at(router, site, agent);
  return routers;
}

function comeAndGo(group: ThreadSimulation, routers: readonly string[], times: number): void {
  for (let n = 0; n < times; n += 1) {
    for (const router of routers) group.open(router);
    group.pass(2 * MINUTE);
    for (const router of routers) group.resolve(router);
    group.pass(2 * MINUTE);
  }
}

const job = (router: number, kind = 'job.failed') => ({
  phase: 'info' as const,
  kind,
  router: `r${router}`,
  key: `router:r${router}:jobs`,
  record: `job${router} ${kind}`,
  data: { idempotency_key: `job${router}` },
});
const rebooted = (router: number) => ({ phase: 'info' as const, kind: 'fault.rebooted', router: `r${router}`, severity: 'info' });

describe('what comes and goes together', () => {
  it('50 routers of a site that come and go every 2 minutes for 6 hours are told as one', () => {
    const group = new ThreadSimulation();
    comeAndGo(group, routersAt(group, 50), 90);
    // Its third opening within the hour says that it comes and goes.
    expect(group.told).toEqual([`open ${SITE}`, `resolve ${SITE}`, `open ${SITE}`, `resolve ${SITE}`, `open ${SITE}`]);
    expect(group.said.filter(({ withheld }) => withheld === null).at(-1)).toMatchObject({ flapping: true, open: 50 });
    group.pass(2 * HOUR);
    expect(group.told.slice(5)).toEqual([`resolve ${SITE}`]);
    expect(group.isAllClosed).toBe(true);
  });

  it('what stays open after that is told as open, with its number, and to its end', () => {
    const group = new ThreadSimulation();
    const routers = routersAt(group, 50);
    comeAndGo(group, routers, 4);
    const before = group.told.length;
    for (const router of routers.slice(0, 30)) group.open(router);
    group.pass(HOUR);
    expect(group.told.slice(before)).toEqual([`open ${SITE}`]);
    expect(group.said.at(-1)).toMatchObject({ flapping: false, open: 30 });
    for (const router of routers.slice(0, 30)) group.resolve(router);
    group.pass(3 * HOUR);
    expect(group.told.slice(before)).toEqual([`open ${SITE}`, `resolve ${SITE}`]);
    expect(group.isAllClosed).toBe(true);
  });

  it('one router that goes on alone does not keep the others of its site from their end', () => {
    const group = new ThreadSimulation();
    const routers = routersAt(group, 50);
    comeAndGo(group, routers, 4);
    comeAndGo(group, routers.slice(0, 1), 15);
    expect(group.told).toContain(`open ${SITE}`);
    expect(group.told.filter((said) => said === `resolve ${SITE}`).length).toBe(3);
    group.pass(3 * HOUR);
    expect(group.isAllClosed).toBe(true);
  });

  it('8 routers without a site that come and go are told as one storm', () => {
    const group = new ThreadSimulation();
    comeAndGo(group, routersAt(group, 8, null), 30);
    group.pass(3 * HOUR);
    expect(new Set(group.told)).toEqual(new Set(['open storm:group', 'resolve storm:group']));
    expect(group.told.length).toBeLessThanOrEqual(6);
    expect(group.told.at(-1)).toBe('resolve storm:group');
  });

  it('those that were told one by one are one message when they begin to come and go together', () => {
    const group = new ThreadSimulation();
    const routers = routersAt(group, 8, null);
    for (const router of routers) {
      group.open(router);
      group.pass(30 * SECOND);
    }
    for (const router of routers) group.resolve(router);
    group.pass(MINUTE);
    const before = group.told.length;
    expect(before).toBe(16);
    comeAndGo(group, routers, 6);
    expect(group.told.slice(before)).toEqual(['open storm:group']);
    expect(group.said.at(-1)).toMatchObject({ kind: 'open', flapping: true });
    group.pass(3 * HOUR);
    expect(group.told.slice(before)).toEqual(['open storm:group', 'resolve storm:group']);
    expect(group.isAllClosed).toBe(true);
  });

  /** Eight bad lines whose storm comes and goes. */
  function badLines(group: ThreadSimulation): string[] {
    const routers = routersAt(group, 8, null);
    comeAndGo(group, routers, 4);
    expect(group.said.filter(({ withheld }) => withheld === null).at(-1)).toMatchObject({ key: 'storm:group', flapping: true });
    return routers;
  }

  it('what opens while a storm comes and goes for hours is told by itself, again while it is critical, and to its end', () => {
    const group = new ThreadSimulation();
    const routers = badLines(group);
    const before = group.told.length;
    group.away('a1');
    comeAndGo(group, routers, 75);
    expect(group.told.slice(before)).toEqual(['open agent:a1', 'reminder agent:a1']);
    group.back('a1');
    group.pass(3 * HOUR);
    expect(group.told.slice(before + 2)).toEqual(['resolve agent:a1', 'resolve storm:group']);
    expect(group.isAllClosed).toBe(true);
  });

  it('many that open while a storm comes and goes are another storm, with updates, reminders and an end', () => {
    const group = new ThreadSimulation();
    const routers = badLines(group);
    const before = group.told.length;
    for (let n = 0; n < 10; n += 1) group.away(`a${n}`);
    comeAndGo(group, routers, 2);
    expect(group.said.filter(({ withheld }) => withheld === null).at(-1)).toMatchObject({ open: 10, flapping: false });
    for (let n = 10; n < 15; n += 1) group.away(`a${n}`);
    comeAndGo(group, routers, 75);
    expect(group.told.slice(before)).toEqual(['open storm:group:2', 'update storm:group:2', 'reminder storm:group:2']);
    for (let n = 0; n < 15; n += 1) group.back(`a${n}`);
    comeAndGo(group, routers, 1);
    expect(group.told.slice(before + 3)).toEqual(['resolve storm:group:2']);
    group.pass(3 * HOUR);
    expect(group.told.slice(before + 4)).toEqual(['resolve storm:group']);
    expect(group.isAllClosed).toBe(true);
  });

  /** The bad lines, and a second storm that comes and goes: of others each time, of which the last ones may still be open. */
  function twoStorms(group: ThreadSimulation, last: 'all are over' | 'some are open' = 'all are over'): string[] {
    const routers = badLines(group);
    for (let turn = 0; turn < 3; turn += 1) {
      for (let n = 0; n < 8; n += 1) group.open(`other${turn} ${n}`);
      comeAndGo(group, routers, 1);
      if (turn === 2 && last === 'some are open') break;
      for (let n = 0; n < 8; n += 1) group.resolve(`other${turn} ${n}`);
      comeAndGo(group, routers, 1);
    }
    expect(group.said.filter(({ withheld }) => withheld === null).at(-1)).toMatchObject({ key: 'storm:group:2', flapping: true });
    return routers;
  }

  it('many that open while two storms come and go are told, and not one by one', () => {
    const group = new ThreadSimulation();
    const routers = twoStorms(group);
    const before = group.told.length;
    for (let n = 0; n < 10; n += 1) group.away(`a${n}`);
    comeAndGo(group, routers, 3);
    expect(group.told.slice(before)).toEqual(['open storm:group:2']);
    expect(group.said.filter(({ withheld }) => withheld === null).at(-1)).toMatchObject({ open: 10 });
    for (let n = 0; n < 10; n += 1) group.back(`a${n}`);
    group.pass(4 * HOUR);
    expect(group.told.slice(before + 1).toSorted()).toEqual(['resolve storm:group', 'resolve storm:group:2']);
    expect(group.isAllClosed).toBe(true);
  });

  it('a storm that is told anew is as severe as the worst that is in it already', () => {
    const group = new ThreadSimulation();
    const routers = twoStorms(group, 'some are open');
    const before = group.told.length;
    for (let n = 0; n < 10; n += 1) group.open(`warm ${n}`, 'fault.high_cpu', 'warning');
    comeAndGo(group, routers, 2);
    expect(group.told.slice(before)).toEqual(['open storm:group:2']);
    expect(group.said.filter(({ withheld }) => withheld === null).at(-1)).toMatchObject({ open: 18, severity: 'critical' });
  });

  it('what was in a storm and is steady meanwhile is told by itself when it opens again while the storm comes and goes', () => {
    const group = new ThreadSimulation();
    const routers = badLines(group);
    const [steady, ...others] = routers;
    comeAndGo(group, others, 75);
    const before = group.told.length;
    group.open(steady!);
    comeAndGo(group, others, 75);
    expect(group.told.slice(before)).toEqual([`open router:${steady}:router_offline`, `reminder router:${steady}:router_offline`]);
    group.resolve(steady!);
    group.pass(3 * HOUR);
    expect(group.told.slice(before + 2)).toEqual([`resolve router:${steady}:router_offline`, 'resolve storm:group']);
    expect(group.isAllClosed).toBe(true);
  });

  it('what is critical and joins two storms that come and go is told again, and to its end, while they do', () => {
    const group = new ThreadSimulation();
    const routers = twoStorms(group);
    const before = group.told.length;
    for (let n = 0; n < 10; n += 1) group.away(`a${n}`);
    comeAndGo(group, routers, 75);
    expect(group.told.slice(before)).toEqual(['open storm:group:2', 'reminder storm:group:2']);
    expect(group.said.filter(({ withheld }) => withheld === null).at(-1)).toMatchObject({ open: 10, flapping: false });
    for (let n = 0; n < 10; n += 1) group.back(`a${n}`);
    comeAndGo(group, routers, 2);
    expect(group.told.slice(before + 2)).toEqual(['resolve storm:group:2']);
    group.pass(3 * HOUR);
    expect(group.told.slice(before + 3)).toEqual(['resolve storm:group']);
    expect(group.isAllClosed).toBe(true);
  });

  it('a storm of sites that comes and goes is told as open when they stay open, though it is looked at meanwhile', () => {
    const group = new ThreadSimulation();
    const routers = Array.from({ length: 48 }, (_, n) => `r${n}`);
    for (const [n, router] of routers.entries()) group.at(router, `site${n % 8}`);
    comeAndGo(group, routers, 2);
    const start = group.now;
    for (const router of routers) group.open(router);
    group.pass(MINUTE);
    expect(group.said.at(-1)).toMatchObject({ key: 'storm:group', kind: 'open', flapping: true });
    const updated = () => [...group.threads.values()].flatMap(({ kind, updated_at: at }) => (kind === 'site' ? [at] : []));
    const before = updated();
    group.pass(29 * MINUTE);
    expect(updated()).toEqual(before);
    expect(group.said.at(-1)).toMatchObject({ key: 'storm:group', kind: 'open', flapping: false, open: 8 });
    expect(group.said.at(-1)!.at - start).toBeLessThan(16 * MINUTE);
  });

  it('the end of what comes and goes is told during a mute, and what stays open when the mute ends', () => {
    for (const staysOpen of [false, true]) {
      const group = new ThreadSimulation();
      const routers = routersAt(group, 20);
      comeAndGo(group, routers, 3);
      const before = group.told.length;
      group.mute(true);
      if (staysOpen) for (const router of routers) group.open(router);
      group.pass(2 * HOUR);
      expect(group.told.slice(before)).toEqual(staysOpen ? [] : [`resolve ${SITE}`]);
      group.mute(false);
      group.pass(MINUTE);
      expect(group.told.slice(before)).toEqual([staysOpen ? `still_open ${SITE}` : `resolve ${SITE}`]);
    }
  });
});

describe('what opens at a site that comes and goes', () => {
  /** Eight bad lines of a site of 20: it comes and goes. */
  function badSite(group: ThreadSimulation): string[] {
    const bad = routersAt(group, 20).slice(0, 8);
    comeAndGo(group, bad, 4);
    expect(group.said.filter(({ withheld }) => withheld === null).at(-1)).toMatchObject({ key: SITE, flapping: true });
    return bad;
  }

  it('one more router is told by itself, again while it is offline, and to its end', () => {
    const group = new ThreadSimulation();
    const bad = badSite(group);
    const before = group.told.length;
    group.open('r9');
    comeAndGo(group, bad, 75);
    expect(group.told.slice(before)).toEqual(['open router:r9:router_offline', 'reminder router:r9:router_offline']);
    group.resolve('r9');
    group.pass(3 * HOUR);
    expect(group.told.slice(before + 2)).toEqual(['resolve router:r9:router_offline', `resolve ${SITE}`]);
    expect(group.isAllClosed).toBe(true);
  });

  it('one that was told with it and has been steady since is told by itself when it opens again', () => {
    const group = new ThreadSimulation();
    const [again, ...bad] = badSite(group);
    comeAndGo(group, bad, 75);
    const before = group.told.length;
    group.open(again!);
    comeAndGo(group, bad, 5);
    expect(group.told.slice(before)).toEqual([`open router:${again}:router_offline`]);
  });

  it('five more are told as the site once more, with updates and an end', () => {
    const group = new ThreadSimulation();
    const bad = badSite(group);
    const before = group.told.length;
    for (let n = 8; n < 13; n += 1) group.open(`r${n}`);
    comeAndGo(group, bad, 2);
    expect(group.said.filter(({ withheld }) => withheld === null).at(-1)).toMatchObject({ open: 5, flapping: false });
    for (let n = 13; n < 16; n += 1) group.open(`r${n}`);
    comeAndGo(group, bad, 3);
    expect(group.told.slice(before)).toEqual([`open ${SITE}:2`, `update ${SITE}:2`]);
    for (let n = 8; n < 16; n += 1) group.resolve(`r${n}`);
    comeAndGo(group, bad, 1);
    expect(group.told.slice(before + 2)).toEqual([`resolve ${SITE}:2`]);
    group.pass(3 * HOUR);
    expect(group.told.slice(before + 3)).toEqual([`resolve ${SITE}`]);
    expect(group.isAllClosed).toBe(true);
  });

  it('both threads of a site, or of an agent’s routers, tell of the same fault', () => {
    const keys = [siteKey('01a1fb9c-376e', 'fault.router_offline'), agentRoutersKey('01a1fb9c-376e', 'fault.router_offline')];
    const faults = keys.flatMap(bothKeys).map((key) => faultOfPlace({ key }));
    expect(new Set(faults)).toEqual(new Set(['router_offline']));
  });

  it('five more while both come and go are told anew with the second, and its end is one', () => {
    const group = new ThreadSimulation();
    const bad = badSite(group);
    for (let turn = 0; turn < 3; turn += 1) {
      const others = Array.from({ length: 5 }, (_, n) => `other${turn} ${n}`);
      for (const router of others) group.at(router, 'madrid');
      for (const router of others) group.open(router);
      comeAndGo(group, bad, 1);
      for (const router of others) group.resolve(router);
      comeAndGo(group, bad, 1);
    }
    expect(group.said.filter(({ withheld }) => withheld === null).at(-1)).toMatchObject({ key: `${SITE}:2`, flapping: true });
    const before = group.told.length;
    for (let n = 13; n < 18; n += 1) group.open(`r${n}`);
    comeAndGo(group, bad, 3);
    expect(group.told.slice(before)).toEqual([`open ${SITE}:2`]);
    for (let n = 13; n < 18; n += 1) group.resolve(`r${n}`);
    group.pass(4 * HOUR);
    expect(group.told.slice(before + 1).toSorted()).toEqual([`resolve ${SITE}`, `resolve ${SITE}:2`]);
    expect(group.isAllClosed).toBe(true);
  });

  it('a router at one of the sites of a storm that comes and goes is told by itself', () => {
    const group = new ThreadSimulation();
    const routers = Array.from({ length: 48 }, (_, n) => `r${n}`);
    for (const [n, router] of [...routers, 'late'].entries()) group.at(router, `site${n % 8}`);
    comeAndGo(group, routers, 2);
    for (const router of routers) group.open(router);
    group.pass(MINUTE);
    expect(group.said.filter(({ withheld }) => withheld === null).at(-1)).toMatchObject({ key: 'storm:group', flapping: true });
    const before = group.told.length;
    group.open('late');
    group.pass(MINUTE);
    expect(group.told.slice(before)).toEqual(['open router:late:router_offline']);
    expect(group.untold).toEqual([]);
  });
});

describe('routers of an agent without a site', () => {
  const BEHIND = 'agent_routers:a1:router_offline';

  it.each([
    [4, ['r0', 'r1', 'r2', 'r3'].map((router) => `router:${router}:router_offline`)],
    [5, [BEHIND]],
    [60, [BEHIND]],
  ])('%i that go offline together are told as %j, and to their end', (count, keys) => {
    const group = new ThreadSimulation();
    const routers = routersAt(group, count, null, 'a1');
    for (const router of routers) group.open(router);
    group.pass(5 * MINUTE);
    for (const router of routers) group.resolve(router);
    group.pass(3 * HOUR);
    expect(group.told).toEqual([...keys.map((key) => `open ${key}`), ...keys.map((key) => `resolve ${key}`)]);
    expect(group.isAllClosed).toBe(true);
  });

  it('one more joins those that were told, and the number is told', () => {
    const group = new ThreadSimulation();
    const routers = routersAt(group, 8, null, 'a1');
    for (const router of routers.slice(0, 5)) group.open(router);
    group.pass(MINUTE);
    for (const router of routers.slice(5)) group.open(router);
    group.pass(10 * MINUTE);
    expect(group.told).toEqual([`open ${BEHIND}`, `update ${BEHIND}`]);
    expect(group.said.at(-1)).toMatchObject({ open: 8 });
    expect(group.untold).toEqual([]);
  });

  it('those that go away one every 4 s are told in two messages and two ends', () => {
    const group = new ThreadSimulation();
    const routers = routersAt(group, 12, null, 'a1');
    for (const router of routers) {
      group.open(router);
      group.pass(4 * SECOND);
    }
    group.pass(7 * MINUTE);
    for (const router of routers) group.resolve(router);
    group.pass(3 * HOUR);
    expect(group.told).toEqual([
      'open router:r0:router_offline',
      `open ${BEHIND}`,
      'resolve router:r0:router_offline',
      `resolve ${BEHIND}`,
    ]);
    expect(group.isAllClosed).toBe(true);
  });

  it('another agent, another fault and a site are told by themselves', () => {
    const group = new ThreadSimulation();
    const routers = routersAt(group, 5, null, 'a1');
    for (let n = 0; n < 5; n += 1) group.at(`other${n}`, null, 'a2');
    for (let n = 0; n < 5; n += 1) group.at(`madrid${n}`, 'madrid', 'a1');
    for (const [n, router] of routers.entries()) {
      group.open(router);
      group.open(router, 'fault.wan_down');
      group.open(`other${n}`);
      group.open(`madrid${n}`);
    }
    group.pass(MINUTE);
    expect(group.told.toSorted()).toEqual([
      `open ${BEHIND}`,
      'open agent_routers:a1:wan_down',
      'open agent_routers:a2:router_offline',
      `open ${SITE}`,
    ]);
  });

  it('five of them at each of many agents are one storm', () => {
    const group = new ThreadSimulation();
    for (let n = 0; n < 40; n += 1) group.at(`r${n}`, null, `a${n % 8}`);
    for (let n = 0; n < 40; n += 1) group.open(`r${n}`);
    group.pass(MINUTE);
    for (let n = 0; n < 40; n += 1) group.resolve(`r${n}`);
    group.pass(3 * HOUR);
    expect(group.told).toEqual(['open storm:group', 'resolve storm:group']);
    expect(group.isAllClosed).toBe(true);
  });

  it('while their agent is away they are its thread', () => {
    const group = new ThreadSimulation();
    group.away('a1');
    group.pass(MINUTE);
    for (const router of routersAt(group, 8, null, 'a1')) group.open(router);
    group.pass(10 * MINUTE);
    expect(group.told).toEqual(['open agent:a1']);
  });

  it('those that still do not answer when their agent is back are told as one', () => {
    const group = new ThreadSimulation();
    group.away('a1');
    group.pass(MINUTE);
    for (const router of routersAt(group, 8, null, 'a1')) group.open(router);
    group.back('a1');
    group.pass(5 * MINUTE);
    expect(group.told).toEqual(['open agent:a1', 'resolve agent:a1', `open ${BEHIND}`]);
    expect(group.untold).toEqual([]);
  });

  it('five more while they come and go are told as the agent’s routers once more', () => {
    const group = new ThreadSimulation();
    const routers = routersAt(group, 20, null, 'a1');
    const bad = routers.slice(0, 8);
    comeAndGo(group, bad, 4);
    expect(group.said.filter(({ withheld }) => withheld === null).at(-1)).toMatchObject({ key: BEHIND, flapping: true });
    const before = group.told.length;
    for (const router of routers.slice(8, 13)) group.open(router);
    comeAndGo(group, bad, 3);
    expect(group.told.slice(before)).toEqual([`open ${BEHIND}:2`]);
    for (const router of routers.slice(8, 13)) group.resolve(router);
    comeAndGo(group, bad, 1);
    group.pass(3 * HOUR);
    expect(group.told.slice(before + 1)).toEqual([`resolve ${BEHIND}:2`, `resolve ${BEHIND}`]);
    expect(group.isAllClosed).toBe(true);
  });
});

describe('what happens and is over at once', () => {
  it.each([
    [1, ['open router:r0:rebooted']],
    [5, Array.from({ length: 5 }, (_, n) => `open router:r${n}:rebooted`)],
    [6, ['open several:group:fault.rebooted']],
    [50, ['open several:group:fault.rebooted']],
  ])('%i routers that reboot at once are %j', (count, told) => {
    const group = new ThreadSimulation();
    for (let n = 0; n < count; n += 1) group.facts(rebooted(n));
    group.pass(2 * HOUR);
    expect(group.told).toEqual(told);
    expect(group.isAllClosed).toBe(true);
  });

  it('failed jobs of 500 routers within a minute are one message that counts all', () => {
    const group = new ThreadSimulation();
    for (let n = 0; n < 500; n += 1) {
      group.facts(job(n, n % 10 === 0 ? 'job.expired' : 'job.failed'));
      group.pass(100);
    }
    group.pass(2 * HOUR);
    expect(group.told).toEqual(['open several:group:job']);
    expect(group.severalOf('several:group:job')).toHaveLength(500);
  });

  it('those that follow wait until five minutes are over, and none is told twice', () => {
    const group = new ThreadSimulation();
    for (let n = 0; n < 600; n += 1) {
      group.facts(job(n));
      group.pass(SECOND);
    }
    group.pass(2 * HOUR);
    const several = group.said.filter(({ withheld }) => withheld === null);
    expect(several.map(({ kind, key }) => `${kind} ${key}`)).toEqual([
      'open several:group:job',
      'open several:group:job',
      'open several:group:job',
    ]);
    for (const [index, { at }] of several.entries()) if (index > 0) expect(at - several[index - 1]!.at).toBeGreaterThanOrEqual(5 * MINUTE);
    expect(several.reduce((sum, { items }) => sum + items, 0)).toBe(600);
  });

  it('different kinds are different messages', () => {
    const group = new ThreadSimulation();
    for (let n = 0; n < 10; n += 1) group.facts(rebooted(n), job(n));
    group.pass(2 * HOUR);
    expect(group.told.toSorted()).toEqual(['open several:group:fault.rebooted', 'open several:group:job']);
  });

  it('during a mute nothing of it is told, with the reason', () => {
    const group = new ThreadSimulation();
    group.mute(true);
    for (let n = 0; n < 10; n += 1) group.facts(rebooted(n));
    group.pass(HOUR);
    expect(group.said.map(({ withheld }) => withheld)).toEqual(Array.from({ length: 10 }, () => 'muted'));
  });
});

describe('what follows at a site that the group was just told of', () => {
  const times = (group: ThreadSimulation, start: number) =>
    group.said.flatMap(({ at, kind, key, withheld }) => (withheld === null ? [`${kind} ${key} ${(at - start) / SECOND} s`] : []));

  it('12 routers that go away one every 4 s are told in two messages, the first after 3 s, and in two ends', () => {
    const group = new ThreadSimulation();
    const routers = routersAt(group, 12);
    const start = group.now;
    for (const router of routers) {
      group.open(router);
      group.pass(4 * SECOND);
    }
    group.pass(7 * MINUTE);
    expect(times(group, start)).toEqual(['open router:r0:router_offline 3 s', `open ${SITE} 59 s`]);
    expect(group.said.at(-1)).toMatchObject({ open: 11 });
    const back = group.now;
    for (const router of routers) {
      group.resolve(router);
      group.pass(4 * SECOND);
    }
    group.pass(3 * HOUR);
    // The last one is back after 44 s.
    expect(times(group, back).slice(2)).toEqual(['resolve router:r0:router_offline 10 s', `resolve ${SITE} 54 s`]);
    expect(group.isAllClosed).toBe(true);
  });

  it('12 routers that go away one a minute are told one by one, then as the site, and so is their end', () => {
    const group = new ThreadSimulation();
    const routers = routersAt(group, 12);
    const start = group.now;
    for (const router of routers) {
      group.open(router);
      group.pass(MINUTE);
    }
    group.pass(7 * MINUTE);
    const opened = times(group, start);
    expect(opened).toEqual([
      'open router:r0:router_offline 3 s',
      'open router:r1:router_offline 75 s',
      `open ${SITE} 150 s`,
      `update ${SITE} 450 s`,
      `update ${SITE} 750 s`,
    ]);
    expect(group.said.at(-1)).toMatchObject({ open: 10 });
    const back = group.now;
    for (const router of routers) {
      group.resolve(router);
      group.pass(MINUTE);
    }
    group.pass(3 * HOUR);
    const ended = times(group, back).slice(opened.length);
    expect(ended).toEqual([
      'resolve router:r0:router_offline 10 s',
      'resolve router:r1:router_offline 70 s',
      `update ${SITE} 130 s`,
      `update ${SITE} 430 s`,
      `resolve ${SITE} 670 s`,
    ]);
    expect(group.isAllClosed).toBe(true);
  });

  it('a router that comes and goes does not make it a matter of its site', () => {
    const group = new ThreadSimulation();
    const routers = routersAt(group, 3);
    for (const router of routers.slice(1)) {
      group.open(router);
      group.pass(2 * MINUTE);
    }
    for (let n = 0; n < 4; n += 1) {
      group.open('r0');
      group.pass(SECOND);
      group.resolve('r0');
      group.pass(SECOND);
    }
    group.open('r0');
    group.pass(5 * MINUTE);
    expect(group.said.map(({ key }) => key)).not.toContain(SITE);
    expect(group.said.at(-1)).toMatchObject({ kind: 'update', key: 'router:r0:router_offline' });
  });

  it('12 agents that go away one every 4 s likewise', () => {
    const group = new ThreadSimulation();
    for (let n = 0; n < 12; n += 1) group.at(`a${n}`, 'madrid');
    const start = group.now;
    for (let n = 0; n < 12; n += 1) {
      group.away(`a${n}`);
      group.pass(4 * SECOND);
    }
    group.pass(7 * MINUTE);
    const back = group.now;
    for (let n = 0; n < 12; n += 1) {
      group.back(`a${n}`);
      group.pass(4 * SECOND);
    }
    group.pass(3 * HOUR);
    expect(times(group, start).slice(0, 2)).toEqual(['open agent:a0 3 s', 'open storm:group 59 s']);
    expect(times(group, back).slice(2)).toEqual(['resolve agent:a0 10 s', 'resolve storm:group 54 s']);
    expect(group.isAllClosed).toBe(true);
  });

  it('waits for quiet, longer each time, and never longer than two minutes', () => {
    const group = new ThreadSimulation();
    const start = group.now;
    for (let n = 0; n < 5; n += 1) {
      group.at(`a${n}`, 'madrid');
      group.away(`a${n}`);
      group.pass(2 * MINUTE);
    }
    expect(group.said.map(({ at }) => (at - start) / SECOND)).toEqual([3, 135, 270, 420, 540]);
    const many = new ThreadSimulation();
    for (let n = 0; n < 40; n += 1) many.at(`a${n}`, 'madrid');
    const opened = many.now;
    many.away('a0');
    many.pass(10 * SECOND);
    many.away('a1');
    many.pass(MINUTE);
    many.away('a2');
    many.pass(2 * MINUTE);
    const since = (many.now - opened) / SECOND;
    for (let n = 3; n < 40; n += 1) {
      many.away(`a${n}`);
      many.pass(5 * SECOND);
    }
    expect(times(many, opened).at(-1)).toBe(`open storm:group ${since + 120} s`);
  });

  it.each([
    ['at another site', (group: ThreadSimulation) => group.open('elsewhere')],
    ['at no site', (group: ThreadSimulation) => group.open('nowhere')],
    ['of another kind', (group: ThreadSimulation) => group.open('r1', 'fault.wan_down')],
    ['of its agent', (group: ThreadSimulation) => group.away('a1')],
  ])('what opens %s meanwhile is told after 3 s', (_where, happen) => {
    const group = new ThreadSimulation();
    routersAt(group, 3);
    group.at('elsewhere', 'lisbon');
    group.at('a1', 'madrid');
    group.open('r0');
    group.pass(10 * SECOND);
    group.open('r1');
    group.pass(5 * SECOND);
    const at = group.now;
    happen(group);
    group.pass(4 * SECOND);
    expect(group.said).toHaveLength(2);
    expect(group.said[1]!.at - at).toBe(3 * SECOND);
  });

  it.each([
    ['over', (group: ThreadSimulation) => group.resolve('r0')],
    ['ten minutes old', (group: ThreadSimulation) => group.pass(10 * MINUTE)],
    ['old, and was only reminded of', (group: ThreadSimulation) => group.pass(4 * HOUR)],
  ])('what opens when the first one is %s is told after 3 s', (_when, happen) => {
    const group = new ThreadSimulation();
    routersAt(group, 2);
    group.open('r0');
    group.pass(MINUTE);
    happen(group);
    group.pass(15 * SECOND);
    const at = group.now;
    group.open('r1');
    group.pass(MINUTE);
    expect(group.said.at(-1)).toMatchObject({ kind: 'open', key: 'router:r1:router_offline', at: at + 3 * SECOND });
  });

  it('what opens again waits its own time, also when others follow', () => {
    const group = new ThreadSimulation();
    routersAt(group, 4);
    group.open('r0');
    group.open('r1');
    group.pass(MINUTE);
    group.resolve('r1');
    group.pass(MINUTE);
    const again = group.now;
    group.open('r1');
    group.pass(110 * SECOND);
    group.open('r2');
    group.pass(HOUR);
    const openings = group.said.filter(({ kind }) => kind === 'open').map(({ key, at }) => [key, (at - again) / SECOND]);
    expect(openings.slice(2)).toEqual([
      ['router:r2:router_offline', 125],
      // The third that is open there.
      [SITE, 180],
    ]);
  });

  it('what is over before it is told is not told', () => {
    const group = new ThreadSimulation();
    routersAt(group, 2);
    group.open('r0');
    group.pass(10 * SECOND);
    group.open('r1');
    group.pass(14 * SECOND);
    group.resolve('r1');
    group.pass(HOUR);
    expect(group.said.map(({ key, withheld }) => [key, withheld])).toEqual([
      ['router:r0:router_offline', null],
      ['router:r1:router_offline', 'over_before_told'],
    ]);
  });
});
