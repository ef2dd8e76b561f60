import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { ThreadSimulation } from '../../harness/thread-simulation.ts';

const SECOND = 1000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;

const ROUTER = 'router:r1:router_offline';

describe('a thread', () => {
  it('tells an opening after 3 s of quiet and an end after 10 s', () => {
    const group = new ThreadSimulation();
    const start = group.now;
    group.open('r1');
    group.pass(HOUR);
    const ended = group.now;
    group.resolve('r1');
    group.pass(HOUR);
    expect(group.said.map(({ kind, at }) => [kind, at])).toEqual([
      ['open', start + 3 * SECOND],
      ['resolve', ended + 10 * SECOND],
    ]);
  });

  it('waits at most 15 s while more and more opens, and tells up to five one by one', () => {
    const group = new ThreadSimulation();
    const start = group.now;
    for (let n = 0; n < 10; n += 1) {
      group.open(`r${n}`);
      group.pass(2 * SECOND);
    }
    // Eight have opened when the first 15 s are over, and the others join them.
    expect(group.told).toEqual(['open storm:group']);
    expect(group.said[0]!.at).toBe(start + 15 * SECOND);
  });

  it('says nothing of what is over before it was told, and keeps the reason', () => {
    const group = new ThreadSimulation();
    group.open('r1');
    group.pass(SECOND);
    group.resolve('r1');
    group.pass(HOUR);
    expect(group.said).toMatchObject([{ kind: 'resolve', withheld: 'over_before_told' }]);
  });

  it('does not tell an end when it opens again before that', () => {
    const group = new ThreadSimulation();
    group.open('r1');
    group.pass(5 * MINUTE);
    group.resolve('r1');
    group.pass(5 * SECOND);
    group.open('r1');
    group.pass(HOUR);
    group.resolve('r1');
    group.pass(HOUR);
    expect(group.told).toEqual([`open ${ROUTER}`, `resolve ${ROUTER}`]);
  });

  it('reminds of what was over for a moment only', () => {
    const group = new ThreadSimulation();
    group.open('r1');
    group.pass(5 * MINUTE);
    group.resolve('r1');
    group.pass(5 * SECOND);
    group.open('r1');
    group.pass(5 * HOUR);
    expect(group.told).toEqual([`open ${ROUTER}`, `reminder ${ROUTER}`]);
  });

  it('holds back what opens again soon, and tells it when it stays', () => {
    const group = new ThreadSimulation();
    group.open('r1');
    group.pass(5 * MINUTE);
    group.resolve('r1');
    group.pass(5 * MINUTE);
    group.open('r1');
    group.pass(2 * MINUTE);
    expect(group.told).toEqual([`open ${ROUTER}`, `resolve ${ROUTER}`]);
    group.pass(2 * MINUTE);
    expect(group.told).toEqual([`open ${ROUTER}`, `resolve ${ROUTER}`, `open ${ROUTER}`]);
  });

  it('closes an hour after its end: what comes back then is a new thread', () => {
    const group = new ThreadSimulation();
    for (let n = 0; n < 2; n += 1) {
      group.open('r1');
      group.pass(10 * MINUTE);
      group.resolve('r1');
      group.pass(2 * HOUR);
    }
    expect(group.threads.size).toBe(2);
    expect(group.told).toHaveLength(4);
  });

  it('reminds every 4 hours of what is critical, until it is acknowledged or over', () => {
    const group = new ThreadSimulation();
    group.open('r1');
    group.open('r2', 'fault.high_cpu', 'warning');
    group.pass(9 * HOUR);
    expect(group.told.filter((said) => said.startsWith('reminder'))).toEqual([`reminder ${ROUTER}`, `reminder ${ROUTER}`]);
    for (const thread of group.threads.values()) group.threads.set(thread.id, { ...thread, acknowledged_at: group.now });
    group.pass(24 * HOUR);
    expect(group.told.filter((said) => said.startsWith('reminder'))).toHaveLength(2);
  });
});

describe('flapping', () => {
  it('a router that goes and comes every 2 minutes for 6 hours is told 3 times, and once when it is quiet', () => {
    const group = new ThreadSimulation();
    for (let n = 0; n < 90; n += 1) {
      group.open('r1');
      group.pass(2 * MINUTE);
      group.resolve('r1');
      group.pass(2 * MINUTE);
    }
    expect(group.told).toEqual([`open ${ROUTER}`, `resolve ${ROUTER}`, `update ${ROUTER}`]);
    expect(group.said.at(-1)).toMatchObject({ flapping: true });
    group.pass(HOUR);
    expect(group.told.slice(3)).toEqual([`resolve ${ROUTER}`]);
  });

  it('what stays down after it flapped is told as down, and its end too', () => {
    const group = new ThreadSimulation();
    for (let n = 0; n < 4; n += 1) {
      group.open('r1');
      group.pass(MINUTE);
      group.resolve('r1');
      group.pass(MINUTE);
    }
    const before = group.told.length;
    group.open('r1');
    group.pass(HOUR);
    expect(group.told.slice(before)).toEqual([`open ${ROUTER}`]);
    group.resolve('r1');
    group.pass(HOUR);
    expect(group.told.slice(before)).toEqual([`open ${ROUTER}`, `resolve ${ROUTER}`]);
  });
});

describe('causes', () => {
  it('an agent that is away is one message and one end, whatever else its routers report', () => {
    const group = new ThreadSimulation();
    for (let n = 0; n < 20; n += 1) group.at(`r${n}`, 'site', 'a1');
    group.away('a1');
    for (let n = 0; n < 20; n += 1) group.open(`r${n}`, 'fault.wan_down');
    group.pass(10 * MINUTE);
    for (let n = 0; n < 20; n += 1) group.resolve(`r${n}`, 'fault.wan_down');
    group.back('a1');
    group.pass(2 * HOUR);
    expect(group.told).toEqual(['open agent:a1', 'resolve agent:a1']);
  });

  it('what is still open when the agent is back gets its own thread after two heartbeats', () => {
    const group = new ThreadSimulation();
    for (let n = 0; n < 3; n += 1) group.at(`r${n}`, 'site', 'a1');
    group.away('a1');
    for (let n = 0; n < 3; n += 1) group.open(`r${n}`);
    group.pass(10 * MINUTE);
    group.back('a1');
    group.pass(30 * SECOND);
    group.resolve('r0');
    expect(group.told).toEqual(['open agent:a1', 'resolve agent:a1']);
    group.pass(2 * MINUTE);
    expect(group.told.slice(2).toSorted()).toEqual(['open router:r1:router_offline', 'open router:r2:router_offline']);
  });

  it('twelve routers of a site are one thread of the site', () => {
    const group = new ThreadSimulation();
    for (let n = 0; n < 12; n += 1) group.at(`r${n}`, 'madrid');
    for (let n = 0; n < 12; n += 1) group.open(`r${n}`);
    group.pass(10 * MINUTE);
    expect(group.said).toMatchObject([{ kind: 'open', key: 'site:madrid:router_offline', open: 12 }]);
    for (let n = 0; n < 12; n += 1) {
      group.resolve(`r${n}`);
      group.pass(SECOND);
    }
    group.pass(2 * HOUR);
    expect(group.told).toEqual(['open site:madrid:router_offline', 'resolve site:madrid:router_offline']);
  });
});

describe('storms', () => {
  it('40 agents at once are one message, and one end', () => {
    const group = new ThreadSimulation();
    for (let n = 0; n < 40; n += 1) group.away(`a${n}`);
    group.pass(20 * MINUTE);
    for (let n = 0; n < 40; n += 1) group.back(`a${n}`);
    group.pass(3 * HOUR);
    expect(group.told).toEqual(['open storm:group', 'resolve storm:group']);
  });

  it('40 agents within 60 s are one message, updates every 5 minutes at most, and one end', () => {
    const group = new ThreadSimulation();
    for (let n = 0; n < 40; n += 1) {
      group.away(`a${n}`);
      group.pass(1500);
    }
    group.pass(HOUR);
    for (let n = 0; n < 40; n += 1) {
      group.back(`a${n}`);
      group.pass(1500);
    }
    group.pass(3 * HOUR);
    expect(group.told[0]).toBe('open storm:group');
    expect(group.told.at(-1)).toBe('resolve storm:group');
    expect(group.told.filter((said) => !said.startsWith('update')).length).toBe(2);
    const updates = group.said.filter(({ kind }) => kind === 'update').map(({ at }) => at);
    for (const [index, at] of updates.entries()) if (index > 0) expect(at - updates[index - 1]!).toBeGreaterThanOrEqual(5 * MINUTE);
    expect(updates.length).toBeLessThanOrEqual(2);
  });

  it('three that remain are told to their end without another opening', () => {
    const group = new ThreadSimulation();
    for (let n = 0; n < 10; n += 1) group.away(`a${n}`);
    group.pass(20 * MINUTE);
    for (let n = 3; n < 10; n += 1) group.back(`a${n}`);
    group.pass(20 * MINUTE);
    expect(group.told).toEqual(['open storm:group', 'resolve storm:group']);
    for (let n = 0; n < 3; n += 1) group.back(`a${n}`);
    group.pass(20 * MINUTE);
    expect(group.told.slice(2).toSorted()).toEqual(['resolve agent:a0', 'resolve agent:a1', 'resolve agent:a2']);
  });

  it('sites in a storm end with it', () => {
    const group = new ThreadSimulation();
    for (let site = 0; site < 8; site += 1)
      for (let n = 0; n < 6; n += 1) {
        group.at(`r${site}-${n}`, `s${site}`);
        group.open(`r${site}-${n}`);
      }
    group.pass(20 * MINUTE);
    expect(group.told).toEqual(['open storm:group']);
    for (let site = 0; site < 8; site += 1) for (let n = 0; n < 6; n += 1) group.resolve(`r${site}-${n}`);
    group.pass(3 * HOUR);
    expect(group.told).toEqual(['open storm:group', 'resolve storm:group']);
    expect([...group.threads.values()].every(({ closed_at: end }) => end !== null)).toBe(true);
  });

  it('contact lost with most agents is held for a minute: it may be the line of this server', () => {
    const group = new ThreadSimulation();
    group.agents = 30;
    for (let n = 0; n < 20; n += 1) group.away(`a${n}`);
    group.pass(50 * SECOND);
    expect(group.said).toEqual([]);
    for (let n = 0; n < 20; n += 1) group.back(`a${n}`);
    group.pass(HOUR);
    expect(group.told).toEqual([]);
    for (let n = 0; n < 20; n += 1) group.away(`b${n}`);
    group.pass(2 * MINUTE);
    expect(group.told).toEqual(['open storm:group']);
    expect([...group.threads.values()].some(({ kind }) => kind === 'contact_lost')).toBe(true);
  });
});

describe('mute', () => {
  const office = { timeZone: 'UTC', windows: [{ day: 'monday' as const, from: 13 * 60, to: 14 * 60 }] };

  it('an end is told inside a mute when its opening was told', () => {
    const group = new ThreadSimulation({ mute: 'schedule-inactive', schedule: office });
    group.open('r1');
    group.pass(70 * MINUTE);
    group.resolve('r1');
    group.pass(MINUTE);
    expect(group.told).toEqual([`open ${ROUTER}`, `resolve ${ROUTER}`]);
  });

  it('what opens inside a mute and lasts is told when the mute ends', () => {
    const group = new ThreadSimulation({ mute: 'schedule-inactive', schedule: office });
    group.pass(70 * MINUTE);
    group.open('r1');
    group.pass(40 * MINUTE);
    expect(group.said).toMatchObject([{ kind: 'open', withheld: 'muted' }]);
    group.pass(11 * MINUTE);
    expect(group.said[1]).toMatchObject({ kind: 'still_open', withheld: null, at: Date.UTC(2026, 0, 5, 14) });
    group.resolve('r1');
    group.pass(HOUR);
    expect(group.told).toEqual([`still_open ${ROUTER}`, `resolve ${ROUTER}`]);
  });

  it('what opens and ends inside a mute is not told', () => {
    const group = new ThreadSimulation({ mute: 'schedule-inactive', schedule: office });
    group.pass(70 * MINUTE);
    group.open('r1');
    group.pass(10 * MINUTE);
    group.resolve('r1');
    group.pass(3 * HOUR);
    expect(group.told).toEqual([]);
    expect(group.said.map(({ withheld }) => withheld)).toEqual(['muted', 'over_before_told']);
  });

  it('more than five that are still open at the end of a mute are one message', () => {
    const group = new ThreadSimulation({ mute: 'schedule-inactive', schedule: office });
    group.pass(70 * MINUTE);
    for (let n = 0; n < 7; n += 1) {
      group.open(`r${n}`);
      group.pass(MINUTE);
    }
    group.pass(3 * HOUR);
    expect(group.told).toEqual(['still_open storm:group']);
  });
});

describe('jobs and campaigns', () => {
  const job = (router: string, record: string, key = record) => ({
    phase: 'info' as const,
    kind: 'job.failed',
    router,
    key: `router:${router}:jobs`,
    record,
    data: { idempotency_key: key },
  });

  it('jobs of a router within a minute are one message', () => {
    const group = new ThreadSimulation();
    for (let n = 0; n < 5; n += 1) {
      group.facts(job('r1', `job${n}`));
      group.pass(5 * SECOND);
    }
    group.pass(HOUR);
    expect(group.told).toEqual(['open router:r1:jobs']);
    group.facts(job('r1', 'later'));
    group.pass(HOUR);
    expect(group.told).toEqual(['open router:r1:jobs', 'open router:r1:jobs']);
  });

  it('jobs of a campaign are never told one by one', () => {
    const group = new ThreadSimulation();
    const change = (name: string) => ({ phase: 'info' as const, kind: `campaign.${name}`, key: 'campaign:c1', record: `c1 ${name}` });
    group.facts(change('started'));
    for (let n = 0; n < 50; n += 1) group.facts(job(`r${n}`, `job${n}`, `campaign c1 r${n}`));
    group.pass(HOUR);
    group.facts(change('completed'));
    group.pass(HOUR);
    expect(group.told).toEqual(['open campaign:c1', 'update campaign:c1']);
    const onlyJobs = new ThreadSimulation({ events: ['job.*'] });
    for (let n = 0; n < 50; n += 1) {
      onlyJobs.facts(job(`r${n}`, `job${n}`, `campaign c1 r${n}`));
      onlyJobs.pass(10 * SECOND);
    }
    onlyJobs.pass(HOUR);
    expect(onlyJobs.told).toEqual(['open campaign:c1']);
  });
});

describe('whatever happens', () => {
  const step = fc.oneof(
    fc.record({ what: fc.constant('toggle' as const), router: fc.integer({ min: 0, max: 11 }) }),
    fc.record({ what: fc.constant('agent' as const), router: fc.integer({ min: 0, max: 7 }) }),
    fc.record({ what: fc.constant('pass' as const), router: fc.integer({ min: 1, max: 2000 }) }),
  );

  it('every opening that was told ends once, and nothing ends that was not told', () => {
    fc.assert(
      fc.property(fc.array(step, { maxLength: 80 }), (steps) => {
        const group = new ThreadSimulation();
        const open = new Set<string>();
        for (let n = 0; n < 12; n += 1) group.at(`r${n}`, `site${n % 2}`, `a${n % 8}`);
        for (const { what, router } of steps) {
          const name = `${what} ${router}`;
          if (what === 'pass') group.pass(router * SECOND);
          else if (open.delete(name)) {
            if (what === 'agent') group.back(`a${router}`);
            else group.resolve(`r${router}`);
          } else {
            open.add(name);
            if (what === 'agent') group.away(`a${router}`);
            else group.open(`r${router}`);
          }
        }
        for (const name of open) {
          const [what, router] = name.split(' ');
          if (what === 'agent') group.back(`a${router}`);
          else group.resolve(`r${router}`);
        }
        group.pass(12 * HOUR);
        const isToldOpen = new Map<string, boolean>();
        for (const { key, kind, withheld } of group.said) {
          if (withheld !== null) continue;
          // A rest of a storm is told to its end without an opening of its own.
          if (kind === 'resolve' && !(isToldOpen.get(key) ?? false)) expect(group.told.some((said) => said.includes('storm'))).toBe(true);
          isToldOpen.set(key, kind !== 'resolve');
        }
        expect([...isToldOpen].filter(([, told]) => told)).toEqual([]);
        expect([...group.threads.values()].filter(({ closed_at: end }) => end === null)).toEqual([]);
      }),
      { numRuns: 300 },
    );
  });
});
