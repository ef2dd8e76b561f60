import { beforeEach, describe, expect, test } from 'vitest';
import { LogOutbox } from '../../../server/platform/bus/log-outbox.ts';
import { ManualClock } from '../../harness/manual-clock.ts';

const LOST = 'lost';

/** The log: what it has stored, without repeated ids. */
class Stored {
  readonly texts: string[] = [];
  readonly #ids = new Set<string>();
  /** What the next calls do. */
  faults: ('receipt lost' | 'refused')[] = [];
  most = 0;
  #open = new Map<string, number>();

  store = async (topic: string, text: string, id: string): Promise<void> => {
    this.#open.set(topic, (this.#open.get(topic) ?? 0) + 1);
    this.most = Math.max(this.most, this.#open.get(topic)!);
    await Promise.resolve();
    this.#open.set(topic, this.#open.get(topic)! - 1);
    const fault = this.faults.shift();
    if (fault === 'refused') throw new Error('refused');
    if (!this.#ids.has(id)) this.texts.push(`${topic} ${text}`);
    this.#ids.add(id);
    if (fault === 'receipt lost') throw new Error('no receipt');
  };
}

describe('messages on their way to the shared log', () => {
  let clock: ManualClock;
  let outbox: LogOutbox;
  let log: Stored;

  beforeEach(() => {
    clock = new ManualClock();
    outbox = new LogOutbox({ prefix: 'node', monotonic: () => clock.monotonic(), idsKnownForMs: 120_000, lostText: LOST });
    log = new Stored();
  });

  test('wait for the log and are stored in the order of their topic', async () => {
    for (let n = 1; n <= 50; n += 1) outbox.add(n % 2 === 0 ? 'even' : 'odd', String(n));
    expect(outbox.size).toBe(50);
    outbox.resume(log.store);
    await outbox.settled();
    const of = (topic: string): number[] => log.texts.filter((text) => text.startsWith(topic)).map((text) => Number(text.split(' ')[1]));
    expect(of('even')).toEqual(Array.from({ length: 25 }, (_, n) => 2 * n + 2));
    expect(of('odd')).toEqual(Array.from({ length: 25 }, (_, n) => 2 * n + 1));
    expect([outbox.size, log.most]).toEqual([0, 1]);
  });

  test.each(['receipt lost', 'refused'] as const)('are stored once and in order when one fails: %s', async (fault) => {
    log.faults = [fault];
    for (const text of ['1', '2', '3']) outbox.add('team', text);
    outbox.resume(log.store);
    await outbox.settled();
    expect(outbox.size).toBe(3);
    outbox.resume(log.store);
    await outbox.settled();
    expect(log.texts).toEqual(['team 1', 'team 2', 'team 3']);
  });

  test('are given up when the log may not know their ids any more, and that is said', async () => {
    log.faults = ['receipt lost'];
    outbox.add('team', '1');
    outbox.resume(log.store);
    await outbox.settled();
    outbox.add('team', '2');
    clock.advance(61_000);
    outbox.resume(log.store);
    await outbox.settled();
    expect(log.texts).toEqual(['team 1', `team ${LOST}`, 'team 2']);
    expect(outbox.losses).toBe(1);
  });

  test('have a limit, and one that says so takes the place of those beyond it', async () => {
    for (let n = 0; n < 20_005; n += 1) outbox.add(n < 10 ? 'quiet' : 'loud', String(n));
    expect(outbox.size).toBeLessThan(20);
    outbox.resume(log.store);
    await outbox.settled();
    expect(log.texts.filter((text) => text.startsWith('quiet'))).toEqual(['quiet 0', `quiet ${LOST}`]);
    const loud = log.texts.filter((text) => text.startsWith('loud'));
    expect(loud.slice(0, 2)).toEqual(['loud 10', `loud ${LOST}`]);
    expect(loud.at(-1)).toBe('loud 20004');
  });
});
