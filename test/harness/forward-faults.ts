import Database from 'better-sqlite3';
import { sql } from 'kysely';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { openStorage } from '../../server/platform/storage/open.ts';
import { ask, connectTo, TargetServer } from './byte-stream.ts';
import { openForward } from './forward-traffic.ts';
import type { Place } from './forward-traffic.ts';
import { listeningPorts, processState } from './process-state.ts';
import { ProcessWorld } from './process-world.ts';
import type { ShownForward } from './process-world.ts';
import { silentLog } from './silent-log.ts';
import { waitUntil } from './wait-until.ts';

const CONNECTIONS = 16;
/** By then, both ends of a connection through a dead part know. */
const PROMPTLY_MS = 5000;
/** Without a word from the line: two periods of 25 s in which nothing is heard, or a write that comes to nothing. */
const SILENTLY_MS = 80_000;
const BACK_MS = 60_000;
/** The router leaves its agent so long to tidy up by itself. */
const ROUTER_MARGIN_MS = 60_000;

let world: ProcessWorld;
let target: TargetServer;

/** An echo that goes round and round, so that bytes are under way all the time. */
class Round {
  /** When the client's end saw the end of the connection. */
  readonly over: Promise<void>;
  received = 0;

  constructor(port: number) {
    const socket = connectTo(port);
    const chunk = Buffer.alloc(20_000, 'x');
    socket.write(chunk);
    socket.on('data', (data: Buffer) => {
      this.received += data.length;
      socket.write(data);
    });
    this.over = new Promise((resolve) => {
      socket.once('end', resolve);
      socket.once('close', () => resolve());
    });
    void this.over.then(() => socket.destroy());
  }
}

async function startRounds(forward: ShownForward): Promise<Round[]> {
  const rounds = Array.from({ length: CONNECTIONS }, () => new Round(forward.port));
  await waitUntil('bytes go round on every connection', () => rounds.every(({ received }) => received > 100_000));
  return rounds;
}

async function within<T>(ms: number, what: string, work: Promise<T>): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_resolve, reject) => {
    timer = setTimeout(() => reject(new Error(`not within ${ms} ms: ${what}`)), ms);
  });
  return Promise.race([work, late]).finally(() => clearTimeout(timer));
}

/** The same forward carries connections again, and nothing else about it has changed. */
async function isBack(forward: ShownForward): Promise<void> {
  const answer = (): Promise<string | undefined> => ask(forward.port, 'still here').catch(() => undefined);
  await waitUntil('the forward carries connections again', async () => (await answer()) === 'still here', BACK_MS);
  const now = await world.shown(forward);
  expect(now).toMatchObject({ port: forward.port, expires_at: forward.expires_at, closed_at: null, way: forward.way });
}

/** Connections that the log has as open. */
function openRows(): number {
  const database = new Database(world.databaseUrl.replace('sqlite:', ''), { readonly: true });
  try {
    return database.prepare("select count(*) from forward_connections where ended_by = 'open'").pluck().get() as number;
  } finally {
    database.close();
  }
}

interface Fault {
  name: string;
  happen(): Promise<unknown> | void;
  recover(): Promise<unknown> | void;
  /** What the log may say of a connection that it broke. */
  endedBy: string[];
  toldWithinMs?: number;
}

const faults: Fault[] = [
  { name: 'the agent is killed', happen: () => world.agent.kill(), recover: () => world.agent.start(), endedBy: ['channel'] },
  { name: 'the control plane is killed', happen: () => world.server.kill(), recover: () => world.startServer(), endedBy: ['unknown'] },
  { name: 'the tunnel is cut', happen: () => world.line!.cut(), recover: () => undefined, endedBy: ['channel'] },
];
const silence: Fault = {
  name: 'the line goes silent',
  happen: () => world.line!.stall(),
  recover: () => world.line!.flow(),
  endedBy: ['channel'],
  toldWithinMs: SILENTLY_MS,
};
const reboot: Fault = {
  name: 'the router reboots',
  happen: () => Promise.all(world.simulators.map((simulator) => simulator.reboot())),
  // Before that a rule of the time before the reboot may still carry.
  recover: () => waitUntil('the routers have taken away what a reboot takes away', rulesAreGone, 15_000),
  endedBy: ['target', 'closed'],
};

function rulesAreGone(): boolean {
  return world.simulators.every((simulator) =>
    simulator.items('/ip/firewall/nat').every((rule) => !rule['comment']?.startsWith('signalbox')),
  );
}

/** Read from the routers themselves. */
function routersAreClean(): boolean {
  return (
    rulesAreGone() &&
    world.simulators.every(
      (simulator) =>
        simulator.items('/system/scheduler').every((entry) => !entry['name']?.startsWith('signalbox')) &&
        simulator.items('/ip/ssh').every((settings) => settings['forwarding-enabled'] === 'no'),
    )
  );
}

/** Nothing of any forward is on the routers, and nothing but its own on agent and control plane. */
async function nothingLeft(forward: ShownForward): Promise<void> {
  await waitUntil('the routers are as they were', routersAreClean);
  await waitUntil('the port is closed', () => !listeningPorts(world.server.pid).includes(forward.port));
  await waitUntil('no target is connected', () => target.sockets.length === 0);
}

/** One whose time is over in twelve seconds; later on a machine that needs as long to start control plane and agent. */
async function openShortForward(place: Place, lifeMs = 12_000): Promise<{ forward: ShownForward; expiresAt: number }> {
  const made = await openForward(world, target.port, place);
  await world.agent.stop();
  await world.server.stop();
  const expiresAt = await expireIn(made, lifeMs);
  await world.startServer();
  world.agent.start();
  // On a loaded machine both take longer to start.
  if (!(await carriesUntil(made, expiresAt - lifeMs / 3))) return openShortForward(place, 3 * lifeMs);
  const forward = await world.shown(made);
  expect(Date.parse(forward.expires_at)).toBe(expiresAt);
  return { forward, expiresAt };
}

/** @returns false when it does not carry a connection by then */
function carriesUntil({ port }: ShownForward, atMs: number): Promise<boolean> {
  return waitUntil('it is back, or late', async () => {
    if ((await ask(port, 'still here').catch(() => undefined)) === 'still here') return { isBack: true };
    return Date.now() > atMs ? { isBack: false } : undefined;
  }).then(({ isBack }) => isBack);
}

/** Ten minutes is the shortest time one can ask for, so the record is changed while the control plane is down. */
async function expireIn({ id }: ShownForward, ms: number): Promise<number> {
  const storage = await openStorage(world.databaseUrl, { log: silentLog });
  try {
    const expiresAt = Date.now() + ms;
    await sql`update forwards set expires_at = ${expiresAt} where id = ${id}`.execute(storage.db);
    return expiresAt;
  } finally {
    await storage.close();
  }
}

/** Tests of one way; with `idle` and `expiry` those that take longer. */
function testFaults(place: Place, { idle, expiry }: { idle: boolean; expiry: boolean }): void {
  // What is behind a direct forward is the router itself.
  const possible = place.way === 'direct' ? faults : [...faults, reboot];

  test.each(idle ? [...possible, silence] : possible)(`while ${CONNECTIONS} connections run: $name`, async (fault) => {
    const forward = await openForward(world, target.port, place);
    const rounds = await startRounds(forward);
    if (fault.endedBy.includes('unknown')) await waitUntil('the open connections are written down', () => openRows() === CONNECTIONS);
    await fault.happen();
    const promptly = fault.toldWithinMs ?? PROMPTLY_MS;
    await within(promptly, 'the clients are told', Promise.all(rounds.map(({ over }) => over)));
    await waitUntil('the targets are told', () => target.sockets.length === 0, promptly);
    await fault.recover();
    await isBack(forward);
    await waitUntil('none is open', async () => (await world.shown(forward)).open_connections === 0);
    const log = (await world.connectionsOf(forward)).filter((entry) => entry.bytes_in > 100_000);
    expect(log.map((entry) => entry.ended_by).filter((endedBy) => !fault.endedBy.includes(endedBy))).toEqual([]);
    expect(log).toHaveLength(CONNECTIONS);
    for (const round of rounds) expect(round.received).toBeGreaterThan(0);
    await world.revoke(forward);
    await nothingLeft(forward);
  });

  test.runIf(idle).each(possible)('while nothing runs: $name', async (fault) => {
    const forward = await openForward(world, target.port, place);
    await fault.happen();
    await fault.recover();
    await isBack(forward);
    await world.revoke(forward);
    await nothingLeft(forward);
  });

  test('revocation during a transfer cuts both ends at once', async () => {
    const first = await openForward(world, target.port, place);
    expect(await ask(first.port, 'the agent has used all its parts once')).toBe('the agent has used all its parts once');
    await world.revoke(first);
    await nothingLeft(first);
    const before = processState(world.agent.pid).descriptors;

    const forward = await openForward(world, target.port, place);
    const rounds = await startRounds(forward);
    await world.revoke(forward);
    await within(PROMPTLY_MS, 'the clients are told', Promise.all(rounds.map(({ over }) => over)));
    await nothingLeft(forward);
    const log = await world.connectionsOf(forward);
    expect(log.map((entry) => entry.ended_by)).toEqual(Array.from({ length: CONNECTIONS }, () => 'revoked'));
    await waitUntil('the agent holds no more than before', () => processState(world.agent.pid).descriptors <= before);
  });

  test.runIf(expiry)('the end of its time during a transfer cuts both ends at once', async () => {
    const { forward, expiresAt } = await openShortForward(place);
    const rounds = await startRounds(forward);
    await within(expiresAt + PROMPTLY_MS - Date.now(), 'the clients are told', Promise.all(rounds.map(({ over }) => over)));
    expect(Date.now()).toBeGreaterThanOrEqual(expiresAt);
    await nothingLeft(forward);
    expect(await world.shown(forward)).toMatchObject({ revoked_early: false, closed_at: expect.any(String) });
    const log = (await world.connectionsOf(forward)).filter((entry) => entry.bytes_in > 100_000);
    expect(log.map((entry) => entry.ended_by)).toEqual(Array.from({ length: CONNECTIONS }, () => 'expired'));
  });

  test.runIf(idle && place.way === 'api')(
    'a minute after the end of its time the router removes the rules itself, with agent and control plane both dead',
    async () => {
      const { forward, expiresAt } = await openShortForward(place);
      expect(routersAreClean()).toBe(false);
      await Promise.all([world.agent.kill(), world.server.kill()]);
      await waitUntil('the router is as it was', routersAreClean, expiresAt + ROUTER_MARGIN_MS + 10_000 - Date.now());
      expect(Date.now()).toBeGreaterThanOrEqual(expiresAt);
      await world.startServer();
      await nothingLeft(forward);
      expect(await world.shown(forward)).toMatchObject({ closed_at: expect.any(String), expired: true });
    },
  );
}

/**
 * Agent, control plane, router or the line between them fail, while connections run and while nothing does. Whatever
 * happens: connections through the dead part end on both sides at once, forwards that are not over come back on the
 * same port until the same time, the log tells of every connection, and in the end nothing is left anywhere.
 */
export function describeFaults(places: Place[], what: { idle: boolean; expiry: boolean }): void {
  describe.each(places)('by the $way way', (place) => {
    beforeAll(async () => {
      world = await ProcessWorld.start({ routers: [{ ways: { api: true, ssh: 'simulated' } }, { ways: { api: true } }], line: true });
      target = await TargetServer.listen((socket) => socket.pipe(socket));
    });
    // A new one each time: the pauses of an agent between its dials grow with every fault.
    beforeEach(async () => {
      await world.agent.stop();
      world.agent.start();
      await world.pulses();
    });
    afterAll(async () => {
      target?.close();
      await world?.close();
    });

    testFaults(place, what);
  });
}
