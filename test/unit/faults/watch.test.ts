import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { HealthReadings } from '../../../protocol/index.ts';
import type { FaultChange } from '../../../server/fleet/faults/types.ts';
import { NOT_REPORTED } from '../../../server/fleet/states/types.ts';
import type { Verdict } from '../../../server/fleet/states/types.ts';
import { RouterWatch } from '../../../server/fleet/faults/watch.ts';
import type { WatchStart } from '../../../server/fleet/faults/watch.ts';
import { formatDuration } from '../../../server/platform/notices/format.ts';
import { inWords } from '../../harness/causes.ts';

const SECOND = 1000;
const MINUTE = 60 * SECOND;
const rules = { heartbeatMs: 30 * SECOND, offlineAfterMs: 75 * SECOND };
const start: WatchStart = { uptimeSeconds: 1000, lastSeenAt: 0, openFaults: [], watchedSince: 0 };
const watch = (overrides: Partial<WatchStart> = {}): RouterWatch => new RouterWatch(rules, { ...start, ...overrides });

const up = (uptimeSeconds: number | null = null) => ({ reachable: true, uptimeSeconds, reason: null });
const down = (reason = 'no route to host') => ({ reachable: false, uptimeSeconds: null, reason });
/** `open router_offline @30` with the moment in seconds. */
const tell = (changes: FaultChange[]): string[] =>
  changes.map((change) => `${change.kind} ${change.type}${change.kind === 'describe' ? '' : ` @${change.at / SECOND}`}`);

const well: HealthReadings = {
  cpu_load: 5,
  temperatures: [
    { name: 'temperature', celsius: 42 },
    { name: 'cpu-temperature', celsius: 60 },
  ],
  voltage: 24,
  free_memory: 100,
  total_memory: 200,
  free_hdd: 50_000_000,
  total_hdd: 128_000_000,
  clock_offset_seconds: 1,
  wan: [{ interface: 'ether1', running: true }],
  position: null,
};

/** The state as the states compute it, with the monotonic time of its beginning in seconds. */
const answering = (since: number): Verdict => ({ state: 'answering', since: since * SECOND, reason: null });
const silent = (since: number, reason = 'timeout'): Verdict => ({ state: 'not_answering', since: since * SECOND, reason });
const away = (since: number): Verdict => ({ state: 'agent_away', since: since * SECOND, reason: 'network' });

describe('a router is offline', () => {
  test('since its state began, when it has lasted, until the router answers', () => {
    const router = watch();
    router.onHeartbeat(down(), 30 * SECOND);
    expect(router.onState(silent(30), 30 * SECOND)).toEqual([]);
    expect(router.onState(silent(30), 104 * SECOND)).toEqual([]);
    const [fault] = inWords(router.onState(silent(30), 105 * SECOND));
    expect(fault).toEqual({
      kind: 'open',
      type: 'router_offline',
      at: 30 * SECOND,
      finding: { message: 'The router is offline', cause: 'no route to host' },
    });
    expect(router.onState(silent(30), 140 * SECOND)).toEqual([]);
    expect(tell(router.onState(answering(170), 171 * SECOND))).toEqual(['resolve router_offline @170']);
  });

  test('not when it answers again in time', () => {
    const router = watch();
    expect(router.onState(silent(30), 60 * SECOND)).toEqual([]);
    expect(router.onState(answering(100), 100 * SECOND)).toEqual([]);
    expect(router.onState(silent(110), 180 * SECOND)).toEqual([]);
  });

  test('since it stopped answering, however often its agent goes and comes meanwhile', () => {
    const router = watch();
    expect(router.onState(silent(30), 30 * SECOND)).toEqual([]);
    expect(router.onState(away(60), 60 * SECOND)).toEqual([]);
    expect(router.onState(silent(90), 90 * SECOND)).toEqual([]);
    expect(tell(router.onState(silent(90), 105 * SECOND))).toEqual(['open router_offline @30']);
  });

  test('a heartbeat later, when its agent no longer reports it', () => {
    const router = watch();
    expect(router.onState(silent(30, NOT_REPORTED), 134 * SECOND)).toEqual([]);
    const changes = router.onState(silent(30, NOT_REPORTED), 135 * SECOND);
    expect(tell(changes)).toEqual(['open router_offline @30']);
    expect(inWords(changes)[0]).toMatchObject({ finding: { cause: expect.stringContaining('no longer reports it') } });
  });

  test('not for the time from before the start of the program', () => {
    const router = watch({ watchedSince: 500 * SECOND });
    expect(router.onState(silent(100), 574 * SECOND)).toEqual([]);
    expect(tell(router.onState(silent(100), 575 * SECOND))).toEqual(['open router_offline @100']);
  });

  test('also when the program was restarted in the meantime', () => {
    const router = watch({ openFaults: ['router_offline'] });
    expect(router.onState(away(0), 10 * SECOND)).toEqual([]);
    expect(router.onState(silent(30), 500 * SECOND)).toEqual([]);
    expect(tell(router.onState(answering(600), 600 * SECOND))).toEqual(['resolve router_offline @600']);
  });
});

describe("a router's agent is offline", () => {
  test('since it is away, when that has lasted, until its reports are back', () => {
    const router = watch();
    expect(router.onState(away(40), 114 * SECOND)).toEqual([]);
    expect(tell(router.onState(away(40), 115 * SECOND))).toEqual(['open agent_offline @40']);
    expect(router.onState(away(40), 500 * SECOND)).toEqual([]);
    expect(tell(router.onState(answering(600), 600 * SECOND))).toEqual(['resolve agent_offline @600']);
    // Nobody knows whether the router was up: that is no fault of the router.
    expect(router.onState(answering(600), 900 * SECOND)).toEqual([]);
  });

  test('in addition to the router, when that was offline before', () => {
    const router = watch();
    expect(tell(router.onState(silent(0), 80 * SECOND))).toEqual(['open router_offline @0']);
    expect(tell(router.onState(away(90), 300 * SECOND))).toEqual(['open agent_offline @90']);
    expect(tell(router.onState(silent(400), 400 * SECOND))).toEqual(['resolve agent_offline @400']);
    expect(tell(router.onState(answering(410), 410 * SECOND))).toEqual(['resolve router_offline @410']);
  });
});

describe('a router was rebooted', () => {
  test('when its uptime goes back, from its boot until it is seen again', () => {
    const router = watch();
    router.onHeartbeat(up(90_000), 30 * SECOND);
    const changes = router.onHeartbeat(up(20), 90 * SECOND);
    expect(tell(changes)).toEqual(['open rebooted @70', 'resolve rebooted @90']);
    expect(inWords(changes)[0]).toMatchObject({ finding: { cause: 'its uptime went back from 1 day 1 hour to 20 seconds' } });
  });

  test.each([
    ['uptime goes on', 1000, 1030],
    ['uptime stands still', 1000, 1000],
    ['uptime is rounded', 1000, 997],
    ['uptime jumps ahead, as after a pause of the agent', 1000, 900_000],
    ['uptime is not known', 1000, null],
  ])('not when %s', (_what, before, after) => {
    const router = watch();
    router.onHeartbeat(up(before), 30 * SECOND);
    expect(router.onHeartbeat(up(after), 60 * SECOND)).toEqual([]);
  });

  test('not when its agent is offline for hours and reconnects', () => {
    const router = watch();
    router.onHeartbeat(up(1000), 30 * SECOND);
    router.onState(away(40), 4 * 60 * MINUTE);
    router.onState(answering(5 * 60 * 60), 5 * 60 * MINUTE);
    expect(router.onHeartbeat(up(19_000), 5 * 60 * MINUTE)).toEqual([]);
  });

  test('across a restart of the program', () => {
    expect(tell(watch({ uptimeSeconds: 5000 }).onHeartbeat(up(100), 700 * SECOND))).toEqual([
      'open rebooted @600',
      'resolve rebooted @700',
    ]);
  });

  test('once, however often an agent reports it', () => {
    const router = watch();
    const changes = Array.from({ length: 100 }, (_, index) =>
      router.onHeartbeat(up(index % 2 === 0 ? 1000 : 1), 30 * SECOND + index * 10),
    ).flat();
    expect(changes).toHaveLength(2);
  });
});

describe('readings of a router', () => {
  const GB = 1e9;
  const hot = { temperatures: [{ name: 'temperature', celsius: 85 }] };
  test.each<[string, Partial<HealthReadings>, number, string]>([
    ['high_cpu', { cpu_load: 95 }, 5, 'processor load is 95 %'],
    ['temperature', hot, 2, 'temperature is 85 °C'],
    [
      'temperature',
      {
        temperatures: [
          { name: 'cpu-temperature', celsius: 96.25 },
          { name: 'sfp', celsius: 40 },
        ],
      },
      2,
      'cpu-temperature is 96.3 °C',
    ],
    ['temperature', { temperatures: [{ name: 'board', celsius: -35 }] }, 2, 'board is -35 °C'],
    ['voltage', { voltage: 7.2 }, 2, 'supply is 7.2 V'],
    ['voltage', { voltage: 60 }, 2, 'supply is 60 V'],
    ['disk_nearly_full', { free_hdd: 0, total_hdd: 16_777_216 }, 2, '0 % (0 of 16384 KiB) are free'],
    ['wan_down', { wan: [{ interface: 'ether1', running: false }] }, 2, 'ether1 not running, and there is no other'],
    [
      'wan_down',
      {
        wan: [
          { interface: 'ether1', running: false },
          { interface: 'lte1', running: true },
        ],
      },
      2,
      'ether1 not running; 1 of 2 still are',
    ],
    ['clock_wrong', { clock_offset_seconds: -1_800_000_000 }, 2, 'it is 57 years 28 days behind'],
    ['clock_wrong', { clock_offset_seconds: 61 }, 2, 'it is 1 minute 1 second ahead'],
  ])('%s: %j after %i minutes', (type, bad, minutes, cause) => {
    const router = watch();
    router.onHealth(well, 0);
    for (let minute = 1; minute < minutes; minute += 1) expect(router.onHealth({ ...well, ...bad }, minute * MINUTE)).toEqual([]);
    const [fault, ...others] = router.onHealth({ ...well, ...bad }, minutes * MINUTE);
    expect(others).toEqual([]);
    expect(inWords([fault!])).toMatchObject([{ kind: 'open', type, at: MINUTE, finding: { cause } }]);
    expect(router.onHealth({ ...well, ...bad }, (minutes + 1) * MINUTE)).toEqual([]);
    const resolved = [1, 2, 3].flatMap((minute) => router.onHealth(well, (20 + minute) * MINUTE));
    expect(tell(resolved)).toEqual([`resolve ${type} @${21 * 60}`]);
  });

  test.each<[string, Partial<HealthReadings>]>([
    [
      'a router that tells nothing',
      { cpu_load: null, temperatures: [], voltage: null, free_hdd: null, total_hdd: null, clock_offset_seconds: null, wan: [] },
    ],
    ['a sensor that is not fitted', { voltage: 0 }],
    ['a chip as warm as chips are', { temperatures: [{ name: 'cpu-temperature', celsius: 85 }] }],
    ['16 MB of flash as full as it always is', { free_hdd: 1_400_000, total_hdd: 16_777_216 }],
    ['a large disk', { free_hdd: 30 * GB, total_hdd: 512 * GB }],
    ['802.3af at its upper end', { voltage: 56.9 }],
  ])('%s is no fault', (_what, readings) => {
    const router = watch();
    const changes = Array.from({ length: 20 }, (_, minute) => router.onHealth({ ...well, ...readings }, minute * MINUTE)).flat();
    expect(changes).toEqual([]);
  });

  test('a second failed line changes the text of the open fault once', () => {
    const router = watch();
    const lines = (ether1: boolean, lte1: boolean) => ({
      ...well,
      wan: [
        { interface: 'ether1', running: ether1 },
        { interface: 'lte1', running: lte1 },
      ],
    });
    const changes = [lines(false, true), lines(false, true), lines(false, false), lines(false, false), lines(true, true)].flatMap(
      (readings, minute) => router.onHealth(readings, minute * MINUTE),
    );
    expect(changes.map((change) => (change.kind === 'resolve' ? 'resolved' : change.finding.message))).toEqual([
      'WAN interface ether1 down',
      'WAN interfaces ether1, lte1 down',
      'resolved',
    ]);
  });

  test('a fault that was open before a restart is resolved after it', () => {
    const router = watch({ openFaults: ['temperature'] });
    expect(tell([...router.onHealth(well, MINUTE), ...router.onHealth(well, 2 * MINUTE)])).toEqual(['resolve temperature @60']);
  });
});

describe('whatever agents say', () => {
  const event = fc.oneof(
    fc.record({ kind: fc.constant('beat' as const), reachable: fc.boolean(), uptime: fc.integer({ min: 0, max: 5000 }) }),
    fc.record({
      kind: fc.constant('health' as const),
      load: fc.integer({ min: 0, max: 100 }),
      running: fc.boolean(),
      celsius: fc.integer({ min: -60, max: 120 }),
    }),
    fc.record({ kind: fc.constantFrom('answering' as const, 'not_answering' as const, 'agent_away' as const), again: fc.boolean() }),
  );

  test('each type opens and resolves alternately, none before it began, none in the future', () => {
    fc.assert(
      fc.property(fc.array(fc.tuple(event, fc.integer({ min: 0, max: 120_000 })), { maxLength: 150 }), (story) => {
        const router = watch();
        const openSince = new Map<string, number>();
        let now = 0;
        let verdict: Verdict = { state: 'never_seen', since: 0, reason: null };
        for (const [said, pause] of story) {
          now += pause;
          if ('again' in said && verdict.state !== said.kind) verdict = { state: said.kind, since: now, reason: null };
          const changes =
            said.kind === 'beat'
              ? router.onHeartbeat(said.reachable ? up(said.uptime) : down(), now)
              : said.kind === 'health'
                ? router.onHealth(
                    {
                      ...well,
                      cpu_load: said.load,
                      wan: [{ interface: 'e1', running: said.running }],
                      temperatures: [{ name: 't', celsius: said.celsius }],
                    },
                    now,
                  )
                : router.onState(verdict, now);
          for (const change of changes) {
            if (change.kind === 'open') {
              expect(openSince.has(change.type)).toBe(false);
              expect(change.at).toBeLessThanOrEqual(now);
              openSince.set(change.type, change.at);
            } else if (change.kind === 'resolve') {
              expect(openSince.has(change.type)).toBe(true);
              expect(change.at).toBeLessThanOrEqual(now);
              openSince.delete(change.type);
            }
          }
        }
      }),
    );
  });
});

test.each([
  [0, '0 seconds'],
  [61, '1 minute 1 second'],
  [3600, '1 hour'],
  [3605, '1 hour'],
  [90_061, '1 day 1 hour'],
  [1.7e9, '53 years 330 days'],
])('%i seconds are %s', (seconds, words) => {
  expect(formatDuration(seconds)).toBe(words);
});
