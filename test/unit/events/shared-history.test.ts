import { beforeEach, describe, expect, test } from 'vitest';
import type { LogEntry, LogFollower, LogPosition, SharedLog } from '../../../server/platform/bus/shared-log.ts';
import { EventsService } from '../../../server/outbound/events/service.ts';
import { SharedHistory } from '../../../server/outbound/events/shared-history.ts';
import { LOST_EVENTS } from '../../../server/outbound/events/types.ts';
import type { EventStream } from '../../../server/outbound/events/stream.ts';
import { ManualClock } from '../../harness/manual-clock.ts';
import { silentLog } from '../../harness/silent-log.ts';

/** One log, and how far each control plane has read it. */
class MemoryLog {
  entries: LogEntry[] = [];
  origin = 'life';

  connect(): MemoryLogReader {
    return new MemoryLogReader(this);
  }

  append(topic: string, text: string): void {
    this.entries.push({ number: (this.entries.at(-1)?.number ?? 0) + 1, topic, text });
  }
}

class MemoryLogReader implements SharedLog {
  position: LogPosition | undefined;
  readonly waiting = 0;
  readonly losses = 0;
  readonly #log: MemoryLog;
  #follower: LogFollower | undefined;

  constructor(log: MemoryLog) {
    this.#log = log;
  }

  append(topic: string, text: string): void {
    this.#log.append(topic, text);
  }

  follow(follower: LogFollower): void {
    this.#follower = follower;
  }

  /** Reads the log as it is kept now, as at the start. */
  start(): Promise<void> {
    const { origin, entries } = this.#log;
    this.position = { origin, number: entries.at(-1)?.number ?? 0 };
    this.#follower!.onReset({ origin, number: (entries[0]?.number ?? 1) - 1 }, entries);
    return Promise.resolve();
  }

  stop(): Promise<void> {
    return Promise.resolve();
  }

  /** Reads what has come since. */
  catchUp(): void {
    for (const entry of this.#log.entries.filter(({ number }) => number > this.position!.number)) {
      this.position = { origin: this.#log.origin, number: entry.number };
      this.#follower!.onEntry(entry);
    }
  }

  /** The log has dropped what was not read. */
  loseTo(number: number): void {
    this.position = { origin: this.#log.origin, number };
    this.#follower!.onReset(this.position, []);
  }
}

interface Node {
  log: MemoryLogReader;
  events: EventsService;
}

const TEAM = 'team';

describe('the events of several control planes', () => {
  let log: MemoryLog;

  async function node(remembered = 10): Promise<Node> {
    const reader = log.connect();
    const events = new EventsService({ clock: new ManualClock(), log: silentLog, history: new SharedHistory(reader, remembered) });
    await reader.start();
    return { log: reader, events };
  }

  const open = ({ events }: Node, lastEventId?: string, teamId = TEAM): EventStream =>
    events.open({ teamId, callerId: 'key', lastEventId, types: [], isStillAllowed: async () => true });
  const publish = ({ events }: Node, n: number, teamId = TEAM): void => events.publish({ teamId, type: 'job.pending', data: { n } });
  /** Numbers of events, or `resync`; and the last id of the reader. */
  function read(stream: EventStream): { got: (number | string)[]; id: string } {
    const text = String(stream.read() ?? '');
    const got = [...text.matchAll(/^event: (\S+)\ndata: (.*)$/gm)].map(([, type, data]) =>
      type === 'resync' ? 'resync' : (JSON.parse(data!) as { n: number }).n,
    );
    return { got, id: [...text.matchAll(/^id: (\S+)$/gm)].at(-1)?.[1] ?? '' };
  }

  beforeEach(() => {
    log = new MemoryLog();
  });

  test('come to the readers of each of them in one order, once they have their place', async () => {
    const [a, b] = [await node(), await node()];
    const streams = [open(a), open(b)];
    for (const stream of streams) read(stream);
    publish(a, 1);
    publish(b, 2);
    publish(a, 3);
    expect(read(streams[0]!).got).toEqual([]);
    for (const each of [a, b]) each.log.catchUp();
    expect(streams.map((stream) => read(stream))).toEqual([
      { got: [1, 2, 3], id: 'life.3' },
      { got: [1, 2, 3], id: 'life.3' },
    ]);
  });

  test('are read on at another one, which may be behind or ahead, each once', async () => {
    const [a, b] = [await node(), await node()];
    for (const n of [1, 2, 3]) publish(a, n);
    a.log.catchUp();
    const first = open(a, 'life.0');
    const { got, id } = read(first);
    expect([got, id]).toEqual([[1, 2, 3], 'life.3']);
    const second = open(b, id);
    expect(read(second)).toEqual({ got: [], id: 'life.3' });
    publish(a, 4);
    b.log.catchUp();
    expect(read(second)).toEqual({ got: [4], id: 'life.4' });
    publish(b, 5);
    a.log.catchUp();
    expect(read(open(a, 'life.4'))).toEqual({ got: [5], id: 'life.5' });
  });

  test('of other teams leave gaps in the numbers and are not seen', async () => {
    const a = await node();
    publish(a, 1);
    publish(a, 100, 'other');
    publish(a, 2);
    publish(a, 101, 'other');
    a.log.catchUp();
    expect(read(open(a, 'life.1'))).toEqual({ got: [2], id: 'life.4' });
    expect(read(open(a, 'life.2', 'other'))).toEqual({ got: [101], id: 'life.4' });
    expect(a.events.position(TEAM)).toBe('life.4');
  });

  test('are known to one that starts later as far as the log keeps them', async () => {
    const a = await node();
    for (let n = 1; n <= 25; n += 1) publish(a, n);
    publish(a, 100, 'other');
    // The log keeps ten of each team.
    log.entries = log.entries.slice(15);
    const b = await node();
    expect(read(open(b, 'life.20')).got).toEqual([21, 22, 23, 24, 25]);
    expect(read(open(b, 'life.15')).got).toEqual([16, 17, 18, 19, 20, 21, 22, 23, 24, 25]);
    expect(read(open(b, 'life.14')).got).toEqual(['resync']);
    expect(read(open(b, 'life.20', 'other')).got).toEqual([100]);
    expect(read(open(b, 'life.14', 'other')).got).toEqual(['resync']);
  });

  test('that were dropped before one had read them make its readers read again, and only those that stood before', async () => {
    const [a, b] = [await node(), await node()];
    const stream = open(b);
    read(stream);
    for (let n = 1; n <= 5; n += 1) publish(a, n);
    b.log.loseTo(3);
    expect(read(stream)).toEqual({ got: ['resync'], id: 'life.3' });
    b.log.catchUp();
    expect(read(stream).got).toEqual([4, 5]);
    expect(read(open(b, 'life.2')).got).toEqual(['resync']);
    expect(read(open(b, 'life.3')).got).toEqual([4, 5]);
  });

  test('that were given up on their way make the readers of that team read again', async () => {
    const [a, b] = [await node(), await node()];
    const [stream, other] = [open(b), open(b, undefined, 'other')];
    for (const each of [stream, other]) read(each);
    publish(a, 1);
    log.append(TEAM, LOST_EVENTS);
    publish(a, 2);
    publish(a, 3, 'other');
    b.log.catchUp();
    expect(read(stream)).toEqual({ got: [1, 'resync', 2], id: 'life.3' });
    expect(read(other).got).toEqual([3]);
    expect(read(open(b, 'life.1')).got).toEqual(['resync']);
    expect(read(open(b, 'life.2')).got).toEqual([2]);
  });

  test('of a log that began anew are not mistaken for those before', async () => {
    const a = await node();
    for (const n of [1, 2, 3]) publish(a, n);
    a.log.catchUp();
    const stream = open(a, 'life.3');
    read(stream);
    log.entries = [];
    log.origin = 'next';
    publish(a, 4);
    await a.log.start();
    expect(read(stream)).toEqual({ got: ['resync'], id: 'next.1' });
    expect(read(open(a, 'life.1')).got).toEqual(['resync']);
    expect(read(open(a, 'next.0')).got).toEqual([4]);
  });

  test('that something else has written to the log are left out, and those after them come', async () => {
    const a = await node();
    const stream = open(a);
    read(stream);
    for (const text of ['', 'job.pending', 'job.pending\n{', 'router.online\nnull', 'router.gone\n{}']) log.append(TEAM, text);
    publish(a, 1);
    a.log.catchUp();
    expect(read(stream).got).toEqual([1]);
  });

  test('cannot be followed before the log has been read', () => {
    const reader = log.connect();
    const events = new EventsService({ clock: new ManualClock(), log: silentLog, history: new SharedHistory(reader, 10) });
    expect(() => open({ log: reader, events })).toThrow('have not been read yet');
    expect(events.shares.taken).toBe(0);
  });
});
