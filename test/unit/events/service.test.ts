import { once } from 'node:events';
import { describe, expect, test } from 'vitest';
import { EventRing } from '../../../server/outbound/events/ring.ts';
import { EVENT_RULES, EventsService } from '../../../server/outbound/events/service.ts';
import type { Subscription } from '../../../server/outbound/events/service.ts';
import { MAX_WAITING_BYTES } from '../../../server/outbound/events/stream.ts';
import type { EventStream } from '../../../server/outbound/events/stream.ts';
import { ManualClock } from '../../harness/manual-clock.ts';
import { silentLog } from '../../harness/silent-log.ts';

function subscription(parts: Partial<Subscription> = {}): Subscription {
  return { teamId: 'north', callerId: 'key', lastEventId: undefined, types: [], isStillAllowed: async () => true, ...parts };
}

/** Ids and kinds of what a stream has to say now. */
function read(stream: EventStream): string[] {
  const text = String(stream.read() ?? '');
  return [...text.matchAll(/^id: (\S+)\nevent: (\S+)$/gm)].map(([, , type]) => type!);
}

describe('the ring of a team', () => {
  test('repeats the events after an id', () => {
    const ring = new EventRing('life', 10);
    expect(ring.position).toBe('life.0');
    ring.add('job.pending', '{}');
    ring.add('job.running', '{}');
    expect(ring.after('life.0')!.map(({ type }) => type)).toEqual(['job.pending', 'job.running']);
    expect(ring.after('life.1')!.map(({ type }) => type)).toEqual(['job.running']);
    expect(ring.after('life.2')).toEqual([]);
  });

  test.each(['life.3', 'other.1', 'life', 'life.x', '', 'life.-1'])('reports that the events after %j are unknown', (id) => {
    const ring = new EventRing('life', 10);
    ring.add('job.pending', '{}');
    ring.add('job.running', '{}');
    expect(ring.after(id)).toBeUndefined();
  });

  test('continues where another ring stopped', () => {
    const ring = new EventRing('life', 3);
    for (let i = 1; i <= 5; i += 1) ring.add('job.pending', JSON.stringify({ i }));
    const { origin, ...past } = structuredClone(ring.kept);
    const next = new EventRing(origin, 3, past);
    expect(next.position).toBe('life.5');
    expect(next.add('job.running', '{}').number).toBe(6);
    expect(next.after('life.2')!.map(({ number }) => number)).toEqual([3, 4, 5, 6]);
    expect(next.after('life.1')).toBeUndefined();
  });

  test('keeps at least its limit and less than twice as much', () => {
    const ring = new EventRing('life', 10);
    for (let i = 1; i <= 95; i += 1) {
      ring.add('job.pending', '{}');
      const most = Math.min(i, 10);
      expect(ring.after(`life.${i - most}`)).toHaveLength(most);
      if (i >= 20) expect(ring.after(`life.${i - 20}`)).toBeUndefined();
    }
  });
});

describe('the event streams', () => {
  test('each reader gets the events of its own team, of the types it asked for', () => {
    const events = new EventsService({ clock: new ManualClock(), log: silentLog });
    const all = events.open(subscription());
    const faults = events.open(subscription({ types: ['fault.opened'] }));
    const other = events.open(subscription({ teamId: 'south' }));
    events.publish({ teamId: 'north', type: 'job.running', data: { job_id: '1' } });
    events.publish({ teamId: 'north', type: 'fault.opened', data: { fault_id: '2' } });
    expect(read(all)).toEqual(['job.running', 'fault.opened']);
    expect(read(faults)).toEqual(['fault.opened']);
    expect(read(other)).toEqual([]);
  });

  test('an event is one block of the event-stream format', () => {
    const events = new EventsService({ clock: new ManualClock(Date.UTC(2031, 4, 1)), log: silentLog });
    const stream = events.open(subscription());
    stream.read();
    events.publish({ teamId: 'north', type: 'job.failed', data: { error: 'two\nlines' } });
    const text = String(stream.read());
    expect(text).toMatch(/^id: \w+\.1\nevent: job\.failed\ndata: .*\n\n$/);
    expect(JSON.parse(/^data: (.*)$/m.exec(text)![1]!)).toEqual({ error: 'two\nlines', at: '2031-05-01T00:00:00.000Z' });
  });

  test('a reader that reconnects gets the missed events; one with an id of another process gets a resync', () => {
    const events = new EventsService({ clock: new ManualClock(), log: silentLog });
    const first = events.open(subscription());
    const start = /^id: (\S+)$/m.exec(String(first.read()))![1]!;
    events.publish({ teamId: 'north', type: 'job.pending', data: {} });
    events.publish({ teamId: 'north', type: 'job.running', data: {} });
    expect(read(events.open(subscription({ lastEventId: start })))).toEqual(['job.pending', 'job.running']);
    expect(read(new EventsService({ clock: new ManualClock(), log: silentLog }).open(subscription({ lastEventId: start })))).toEqual([
      'resync',
    ]);
  });

  test('when the clock is set, every reader is asked to read again, now or when it comes back', () => {
    const events = new EventsService({ clock: new ManualClock(), log: silentLog });
    const here = events.open(subscription({ types: ['job.running'] }));
    const start = /^id: (\S+)$/m.exec(String(here.read()))![1]!;
    events.publish({ teamId: 'north', type: 'job.running', data: {} });
    events.onClockStep();
    expect(read(here)).toEqual(['job.running', 'resync']);
    expect(read(events.open(subscription({ lastEventId: start })))).toEqual(['resync']);
    const position = events.position('north');
    events.publish({ teamId: 'north', type: 'job.running', data: {} });
    expect(read(here)).toEqual(['job.running']);
    expect(read(events.open(subscription({ lastEventId: position })))).toEqual(['job.running']);
  });

  test('the traffic of a forward reaches those who watch it, when it is news, without a position', () => {
    const events = new EventsService({ clock: new ManualClock(Date.UTC(2031, 4, 1)), log: silentLog });
    const watcher = events.open(subscription({ watched: ['one', 'two'] }));
    const others = [
      events.open(subscription()),
      events.open(subscription({ watched: ['two'] })),
      events.open(subscription({ watched: ['one'], types: ['job.running'] })),
      events.open(subscription({ teamId: 'south', watched: ['one'] })),
    ];
    for (const stream of [watcher, ...others]) stream.read();
    expect([...events.watchedForwards()]).toEqual([
      ['north', ['one', 'two']],
      ['south', ['one']],
    ]);
    const before = events.position('north');
    for (const bytes of [1, 1, 2]) events.tellWatchers('north', 'one', { forward_id: 'one', bytes_in: bytes });
    const blocks = String(watcher.read()).split('\n\n').slice(0, -1);
    expect(blocks).toEqual(
      [1, 2].map((bytes) => `event: forward.traffic\ndata: {"forward_id":"one","bytes_in":${bytes},"at":"2031-05-01T00:00:00.000Z"}`),
    );
    for (const stream of others) expect(stream.read()).toBeNull();
    expect(events.position('north')).toBe(before);
  });

  test('a reader that does not read is disconnected, the others are not', async () => {
    const events = new EventsService({ clock: new ManualClock(), log: silentLog });
    const slow = events.open(subscription());
    const quick = events.open(subscription());
    const cut = once(slow, 'close');
    const data = { text: 'x'.repeat(10_000) };
    for (let i = 0; i <= MAX_WAITING_BYTES / 10_000; i += 1) {
      events.publish({ teamId: 'north', type: 'job.running', data });
      quick.read();
    }
    await cut;
    expect(quick.destroyed).toBe(false);
    expect(events.openStreams).toBe(1);
  });

  test('a key has a limit of open streams, separate from other keys', () => {
    const events = new EventsService({ clock: new ManualClock(), log: silentLog });
    for (let i = 0; i < EVENT_RULES.streams.perMember; i += 1) events.open(subscription());
    expect(() => events.open(subscription())).toThrow('open event streams');
    expect(() => events.open(subscription({ callerId: 'other key' }))).not.toThrow();
  });

  test('an idle stream sends keep-alive comments', async () => {
    const clock = new ManualClock();
    const events = new EventsService({ clock, log: silentLog });
    events.start();
    const stream = events.open(subscription());
    stream.read();
    clock.advance(EVENT_RULES.heartbeatMs);
    await once(stream, 'readable');
    expect(String(stream.read())).toBe(':\n\n');
  });

  test('a stream ends soon after its key is revoked', async () => {
    const clock = new ManualClock();
    const events = new EventsService({ clock, log: silentLog });
    events.start();
    let allowed = true;
    const stream = events.open(subscription({ isStillAllowed: async () => allowed })).resume();
    const ended = once(stream, 'end');
    allowed = false;
    clock.advance(EVENT_RULES.heartbeatMs);
    await ended;
  });

  test('at shutdown every stream ends and no new one begins', async () => {
    const events = new EventsService({ clock: new ManualClock(), log: silentLog });
    const stream = events.open(subscription()).resume();
    const ended = once(stream, 'end');
    await events.stop();
    await ended;
    expect(() => events.open(subscription())).toThrow('the server is stopping');
  });
});
