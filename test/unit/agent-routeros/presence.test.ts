import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { AgentError } from '../../../agent/core/errors.ts';
import type { RouterFacts, RouterState } from '../../../agent/routers/adapter.ts';
import type { InventoryReader } from '../../../agent/routers/inventory-reader.ts';
import { RouterPresence } from '../../../agent/routers/presence.ts';
import type { KeptSession } from '../../../agent/routers/session-keeper.ts';
import { ManualClock } from '../../harness/manual-clock.ts';
import { RecordedLog } from '../../harness/recorded-log.ts';

const HOUR_MS = 60 * 60_000;

const FACTS: RouterFacts = {
  hardwareId: 'HCQ08FX50J7',
  serialNumber: 'HCQ08FX50J7',
  softwareId: null,
  identity: 'branch',
  softwareVersion: '7.18.2',
  model: 'RBD52G-5HacD2HnD',
  boardName: 'hAP ac^2',
  hardwareBoard: true,
  architecture: 'arm',
  timeZone: null,
  uptime: '1h',
  uptimeSeconds: 3600,
};

class FakeSession implements KeptSession {
  alive = true;
  #ended: ((reason: string) => void) | undefined;
  onClose(listener: (reason: string) => void): () => void {
    this.#ended = listener;
    return () => undefined;
  }
  close(): Promise<void> {
    this.alive = false;
    this.#ended?.('closed');
    return Promise.resolve();
  }
}

let clock: ManualClock;
let facts: RouterFacts;
let reads: number;
let refusal: AgentError | undefined;
let states: RouterState[];
let presence: RouterPresence<KeptSession>;
let log: RecordedLog;
/** The newest. */
let session: FakeSession;
let open: () => Promise<FakeSession>;

const reader: InventoryReader<KeptSession> = {
  read: () => {
    reads += 1;
    return refusal ? Promise.reject(refusal) : Promise.resolve(facts);
  },
  probe: () => Promise.resolve(facts),
};

beforeEach(async () => {
  clock = new ManualClock();
  facts = FACTS;
  reads = 0;
  refusal = undefined;
  states = [];
  log = new RecordedLog();
  open = () => {
    session = new FakeSession();
    return Promise.resolve(session);
  };
  presence = new RouterPresence({ router: 'edge', open: () => open(), reader, clock, random: () => 1, log });
  presence.subscribe((state) => states.push(state));
  presence.start();
  await settled();
});

afterEach(() => presence.close());

async function settled(): Promise<void> {
  for (let turn = 0; turn < 5; turn++) await new Promise(setImmediate);
}

async function nextPing(): Promise<void> {
  clock.advance(20_000);
  await settled();
}

describe('the inventory', () => {
  it('is read when the router comes up, and not at every ping', async () => {
    for (let ping = 0; ping < 5; ping++) await nextPing();
    expect(reads).toBe(1);
    expect(states).toEqual([{ reachable: true, reason: null, facts: FACTS }]);
  });

  it.each([
    ['it has another name', { identity: 'branch two' }],
    ['it has another version', { softwareVersion: '7.20' }],
    ['its uptime went back', { uptimeSeconds: 10, uptime: '10s' }],
  ])('is read again when %s', async (_what, change) => {
    facts = { ...FACTS, ...change };
    await nextPing();
    expect(reads).toBe(2);
    expect(states.at(-1)?.facts).toEqual(facts);
  });

  it('is read again every day', async () => {
    for (let ping = 0; ping < (25 * HOUR_MS) / 20_000; ping++) await nextPing();
    expect(reads).toBe(2);
  });

  it.each([
    ['ahead', 30 * HOUR_MS],
    ['back', -30 * HOUR_MS],
  ])('is read after a day, even if the clock is set: %s', async (_direction, step) => {
    clock.step(step);
    for (let ping = 0; ping < (23 * HOUR_MS) / 20_000; ping++) await nextPing();
    expect(reads).toBe(1);
    for (let ping = 0; ping < (2 * HOUR_MS) / 20_000; ping++) await nextPing();
    expect(reads).toBe(2);
  });

  it('has the uptime of the last probe, without calling listeners', async () => {
    facts = { ...FACTS, uptime: '1h20s', uptimeSeconds: 3620 };
    await nextPing();
    expect(presence.state.facts?.uptimeSeconds).toBe(3620);
    expect(states).toHaveLength(1);
  });

  it('that is refused leaves the router reachable, with the reason', async () => {
    await presence.close();
    refusal = new AgentError('rejected', 'not enough permissions (9)');
    presence = new RouterPresence({ router: 'edge', open: () => open(), reader, clock, random: () => 1, log });
    presence.start();
    await settled();
    expect(presence.state).toEqual({ reachable: true, reason: 'inventory: not enough permissions (9)', facts: null });
  });
});

describe('the log', () => {
  const here = { identity: 'branch', version: '7.18.2' };

  it('reports once that a router is unreachable and once that it is back, although it is retried all the time', async () => {
    expect(log.take()).toEqual([{ level: 'info', message: 'router reachable', router: 'edge', ...here }]);
    const good = open;
    open = () => Promise.reject(new AgentError('router_unreachable', '10.0.0.1:8728: connection refused (ECONNREFUSED)'));
    await session.close();
    await settled();
    expect(log.take()).toEqual([{ level: 'warn', message: 'router unreachable', router: 'edge', reason: 'closed' }]);
    clock.advance(1000);
    await settled();
    const reason = '10.0.0.1:8728: connection refused (ECONNREFUSED)';
    expect(log.take()).toEqual([{ level: 'info', message: 'router still unreachable', router: 'edge', reason, away_seconds: 1 }]);
    for (let second = 1; second < 120; second++) {
      clock.advance(1000);
      await settled();
    }
    expect(log.take()).toEqual([]);
    open = good;
    clock.advance(30_000);
    await settled();
    expect(log.take()).toEqual([{ level: 'info', message: 'router reachable', router: 'edge', ...here, away_seconds: 150 }]);
  });

  it('reports a reachable router whose inventory cannot be read', async () => {
    log.take();
    refusal = new AgentError('rejected', 'not enough permissions (9)');
    await session.close();
    await settled();
    clock.advance(1000);
    await settled();
    expect(log.take()).toEqual([
      { level: 'warn', message: 'router unreachable', router: 'edge', reason: 'closed' },
      { level: 'info', message: 'router reachable', router: 'edge', away_seconds: 1 },
      { level: 'warn', message: 'the inventory of the router cannot be read', router: 'edge', reason: 'not enough permissions (9)' },
    ]);
  });
});

describe('listeners for changes', () => {
  it('do not affect each other', async () => {
    presence.subscribe(() => {
      throw new TypeError('listener is broken');
    });
    const seen: string[] = [];
    const unsubscribe = presence.subscribe(({ facts }) => seen.push(facts?.identity ?? ''));
    facts = { ...FACTS, identity: 'a' };
    await nextPing();
    unsubscribe();
    facts = { ...FACTS, identity: 'b' };
    await nextPing();
    expect(seen).toEqual(['a']);
  });
});
