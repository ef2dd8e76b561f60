import { describe, expect, it } from 'vitest';
import type { HistoryItem, RouterAvailability } from '../../../client/index.ts';
import { railsOfBuckets, railsOfMany } from '../../../console/src/rails/from-buckets.ts';
import { railsOfHistory } from '../../../console/src/rails/from-history.ts';
import { segmentsOf, ticksOf } from '../../../console/src/rails/geometry.ts';
import { agentReasons, routerReasons } from '../../../console/src/rails/reasons.ts';
import { place } from '../../../console/src/rails/labels.ts';
import { covering } from '../../../console/src/rails/pieces.ts';
import type { Kind, Piece, Rails } from '../../../console/src/rails/pieces.ts';

const HOUR = 3_600_000;
const START = Date.parse('2031-05-01T00:00:00Z');
/** Hours after the start. */
const at = (hour: number): number => START + hour * HOUR;
const iso = (hour: number): string => new Date(at(hour)).toISOString();
const DAY = { from: at(0), to: at(24) };
const piece = (from: number, to: number, kind: Kind): Piece => ({ from: at(from), to: at(to), kind });
/** `heard 0-4, away 4-5`, in hours. */
const told = (pieces: readonly Piece[]): string =>
  pieces.map(({ from, to, kind }) => `${kind} ${(from - START) / HOUR}-${(to - START) / HOUR}`).join(', ');

describe('pieces of a rail', () => {
  it('cover the time without gaps, the later ones over the earlier ones', () => {
    expect(told(covering(DAY, [piece(-3, 20, 'heard'), piece(4, 5, 'away'), piece(23, 30, 'not')], 'never'))).toBe(
      'heard 0-4, away 4-5, heard 5-20, never 20-23, not 23-24',
    );
  });

  it('of the same meaning become one', () => {
    expect(told(covering(DAY, [piece(0, 12, 'heard'), piece(12, 24, 'heard')], 'never'))).toBe('heard 0-24');
  });
});

describe('the rectangles of a rail', () => {
  const rail = (...breaks: Piece[]) => segmentsOf(covering(DAY, [piece(0, 24, 'heard'), ...breaks], 'never'), DAY, 240);

  it('are as wide as their time', () => {
    expect(rail(piece(6, 12, 'not'))).toEqual([
      { kind: 'heard', left: 0, width: 60 },
      { kind: 'heard', left: 120, width: 120 },
      { kind: 'not', left: 60, width: 60 },
    ]);
  });

  it('show the shortest break 3 pixels wide, from where it began, above what is sound', () => {
    expect(rail(piece(6, 6.001, 'away')).at(-1)).toEqual({ kind: 'away', left: 60, width: 3 });
  });

  it('pin a short break that still goes on to the right edge', () => {
    expect(rail(piece(23.99, 24, 'not')).at(-1)).toEqual({ kind: 'not', left: 237, width: 3 });
  });

  it('never need more than a third of the pixels for breaks, however many there are', () => {
    const many = Array.from({ length: 2000 }, (_, index) => piece(index * 0.012, index * 0.012 + 0.001, 'away'));
    const breaks = rail(...many).filter(({ kind }) => kind === 'away');
    expect(breaks.length).toBeLessThanOrEqual(80);
    expect(breaks.every(({ left, width }) => left >= 0 && left + width <= 240)).toBe(true);
  });

  it('are none on a rail without width or time', () => {
    expect(segmentsOf([piece(0, 24, 'heard')], DAY, 0)).toEqual([]);
    expect(segmentsOf([piece(0, 24, 'heard')], { from: at(0), to: at(0) }, 100)).toEqual([]);
  });
});

describe('the axis', () => {
  it('has full hours, far enough apart', () => {
    const ticks = ticksOf(DAY, 480, 40);
    expect(ticks.map(({ x }) => x)).toEqual(Array.from({ length: ticks.length }, (_, index) => ticks[0]!.x + index * 40));
    expect(ticks.filter(({ isDay }) => isDay).length).toBeGreaterThanOrEqual(1);
  });
});

describe('reasons at their breaks', () => {
  const want = (label: string, x: number, width: number, weight = 1) => ({ label, x, width, weight });

  it('stand at the right of their leader, and turn left past 60 percent of the width', () => {
    const { placed } = place([want('a', 100, 120), want('b', 700, 120)], 1000);
    expect(placed.map(({ label, isLeft, level }) => [label, isLeft, level])).toEqual([
      ['a', false, 0],
      ['b', true, 0],
    ]);
  });

  it('step up a level when they would touch', () => {
    const { placed } = place([want('a', 100, 120, 3), want('b', 90, 120, 2)], 1000);
    expect(placed.map(({ label, level }) => [label, level])).toEqual([
      ['a', 0],
      ['b', 1],
    ]);
  });

  it('do not let a leader run through a text', () => {
    const { placed, folded } = place([want('a', 100, 120, 3), want('b', 150, 120, 2)], 1000);
    expect(placed.map(({ label }) => label)).toEqual(['a']);
    expect(folded).toBe(1);
  });

  it('write the longest breaks and count the others', () => {
    const many = Array.from({ length: 50 }, (_, index) => want(String(index), 500 + index, 200, index));
    const { placed, folded } = place(many, 1000);
    expect(placed.map(({ label }) => label)).toContain('49');
    expect(placed.length + folded).toBe(50);
    expect(folded).toBeGreaterThan(40);
  });
});

describe('the rails of one router', () => {
  const item = (kind: 'state' | 'session' | 'unknown', from: number, until: number | null, status: string, title: string): HistoryItem => ({
    id: `${kind}${from}`,
    kind,
    at: iso(from),
    until: until === null ? null : iso(until),
    status,
    title,
    by: null,
    link: null,
  });
  const session = (from: number, until: number | null, endedBy: string, address = '198.51.100.41') =>
    item('session', from, until, endedBy, `the agent connected from ${address}`);
  const state = (from: number, until: number | null, status: string, reason?: string) =>
    item('state', from, until, status, reason === undefined ? status : `${status}: ${reason}`);
  const rails = (items: readonly HistoryItem[], createdAt = -100): Rails => railsOfHistory({ items, createdAt: at(createdAt) }, DAY);

  it('show the agent away with the reason, and the router hatched meanwhile and never red', () => {
    const { agent, router } = rails([
      session(-5, 4, 'silence'),
      session(5, null, 'open', '203.0.113.7'),
      state(-5, 4, 'answering'),
      state(4, 5, 'agent_away', 'silence'),
      state(5, 20, 'answering'),
      state(20, null, 'not_answering', 'login_refused'),
    ]);
    expect(told(agent)).toBe('heard 0-4, away 4-5, heard 5-24');
    expect(agent.map(({ reason, fact }) => reason ?? fact)).toEqual(['198.51.100.41', 'silence', '203.0.113.7']);
    expect(told(router)).toBe('heard 0-4, unasked 4-5, heard 5-20, not 20-24');
    expect(router.at(-1)!.reason).toBe('login_refused');
  });

  it('hatch both while the control plane was stopped', () => {
    const { agent, router } = rails([
      session(-5, 4, 'server_stopped'),
      session(5, null, 'open'),
      state(-5, 4, 'answering'),
      state(4, 5, 'agent_away', 'server_stopped'),
      item('unknown', 4, 4.5, 'unknown', ''),
      state(5, null, 'answering'),
    ]);
    expect(told(agent)).toBe('heard 0-4, unknown 4-4.5, away 4.5-5, heard 5-24');
    expect(told(router)).toBe('heard 0-4, unknown 4-4.5, unasked 4.5-5, heard 5-24');
  });

  it('show no break where a newer session replaced one that was still open', () => {
    const { agent } = rails([session(-5, 6, 'replaced'), session(5, null, 'open')]);
    expect(told(agent)).toBe('heard 0-24');
  });

  it('do not count a session that never became ready', () => {
    const { agent } = rails([session(-5, 4, 'network'), session(5, 6, 'handshake_timeout'), session(8, null, 'open')]);
    expect(told(agent)).toBe('heard 0-4, away 4-8, heard 8-24');
  });

  it('are dotted before the router was known', () => {
    const { agent, router } = rails([session(10, null, 'open'), state(10, null, 'answering')], 10);
    expect(told(agent)).toBe('never 0-10, heard 10-24');
    expect(told(router)).toBe('never 0-10, heard 10-24');
  });
});

describe('the rails of a row, from seconds per hour', () => {
  const bucket = (hour: number, change: { unknown?: number; agent_away?: number; not_answering?: number }): Bucket => {
    const rest = { unknown: 0, agent_away: 0, not_answering: 0, ...change };
    const answering = 3600 - rest.unknown - rest.agent_away - rest.not_answering;
    return { from: iso(hour), to: iso(hour + 1), answering, percent_of_known: null, ...rest };
  };
  type Bucket = RouterAvailability['buckets'][number];
  const FOUR = { from: at(0), to: at(4) };
  const answering = { state: 'answering', state_since: iso(-50), created_at: iso(-100) } as const;
  const of = (...changes: Parameters<typeof bucket>[1][]): Bucket[] => changes.map((change, hour) => bucket(hour, change));

  it('join a break over the hours that it touches', () => {
    const rails = railsOfBuckets(of({}, { agent_away: 1800 }, { agent_away: 900 }, {}), answering, FOUR);
    expect(told(rails.agent)).toBe('heard 0-1.5, away 1.5-2.25, heard 2.25-4');
    expect(told(rails.router)).toBe('heard 0-1.5, unasked 1.5-2.25, heard 2.25-4');
  });

  it('leave the agent sound when only the router does not answer, and put a lone break in the middle', () => {
    const rails = railsOfBuckets(of({}, { not_answering: 1800 }, {}, {}), answering, FOUR);
    expect(told(rails.agent)).toBe('heard 0-4');
    expect(told(rails.router)).toBe('heard 0-1.25, not 1.25-1.75, heard 1.75-4');
  });

  it('show what goes on now from its exact moment', () => {
    const rails = railsOfBuckets(of({}, {}, {}, {}), { ...answering, state: 'not_answering', state_since: iso(3.9) }, FOUR);
    expect(told(rails.router)).toBe('heard 0-3.9, not 3.9-4');
  });

  it('are dotted before the router existed, and hatched where nobody knew', () => {
    const rails = railsOfBuckets(of({ unknown: 3600 }, { unknown: 3600 }, {}, {}), { ...answering, created_at: iso(1) }, FOUR);
    expect(told(rails.agent)).toBe('never 0-1, unknown 1-2, heard 2-4');
  });

  it('of a site show every break, and nobody knew only where that is so of all', () => {
    const one = railsOfBuckets(of({ unknown: 3600 }, {}, { not_answering: 3600 }, {}), answering, FOUR);
    const other = railsOfBuckets(of({ unknown: 3600 }, { unknown: 3600 }, {}, { agent_away: 3600 }), answering, FOUR);
    const site = railsOfMany([one, other], FOUR);
    expect(told(site.agent)).toBe('unknown 0-1, heard 1-3, away 3-4');
    expect(told(site.router)).toBe('unknown 0-1, heard 1-2, not 2-3, unasked 3-4');
  });
});

describe('the job that is suspected of a break', () => {
  const minutes = (count: number): number => count / 60;
  const job = (title: string, made: number, ended: number | null) => ({ title, made: at(made), ended: ended === null ? null : at(ended) });
  const rails: Rails = { ...DAY, agent: [], router: [piece(12, 12.1, 'not')] };
  const said = (...deeds: ReturnType<typeof job>[]): string => routerReasons(rails, deeds)[0]!.weak;

  it.each([
    ['the last one that had ended', [job('second', 11.9, 12 - minutes(1)), job('first', 11.8, 12 - minutes(5))], '6 min, after second'],
    [
      'rather one under way, as that whose undo guard fires',
      [job('guarded', 12 - minutes(2), 12.05), job('ended', 11.8, 12 - minutes(2))],
      '6 min, while guarded was under way',
    ],
    ['one that has not ended yet', [job('runs', 12 - minutes(2), null)], '6 min, while runs was under way'],
    ['none that has waited for long', [job('waits', 2, null)], '6 min'],
    ['none that was made later', [job('later', 12.01, null)], '6 min'],
    ['none that ended long before', [job('old', 10, 11)], '6 min'],
  ])('is %s', (_name, deeds, expected) => {
    expect(said(...deeds)).toBe(expected);
  });
});

it('an outage in which the control plane was started again is one', () => {
  const minutes = (count: number): number => count / 60;
  const outage = (kind: Kind, gap: number) => [
    piece(0, 12, 'heard'),
    piece(12, 20, kind),
    piece(20, 20 + gap, 'unknown'),
    piece(20 + gap, 24, kind),
  ];
  const begins = (reasons: readonly { from: number; to: number }[]): number[] => reasons.map(({ from }) => (from - START) / HOUR);
  const short: Rails = { ...DAY, agent: outage('away', minutes(1)), router: outage('unasked', minutes(1)) };
  expect([begins(agentReasons(short)), begins(routerReasons(short, []))]).toEqual([[12], [12]]);
  expect(agentReasons(short)[0]).toMatchObject({ isOpen: true, weak: 'still, 12 h 00' });
  const long: Rails = { ...DAY, agent: outage('away', 1), router: outage('not', 1) };
  expect([begins(agentReasons(long)), begins(routerReasons(long, []))]).toEqual([
    [12, 20, 21],
    [12, 21],
  ]);
});
