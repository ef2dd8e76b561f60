import { once } from 'node:events';
import net from 'node:net';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { HostileTeam, never, runsAllJobs } from './hostile-team.ts';
import { OPERATIONS, Neighbour } from './neighbour.ts';
import type { Operation, Slowest } from './neighbour.ts';
import { freePort } from '../installation.ts';
import { waitUntil } from '../wait-until.ts';
import { hang, WebhookReceiver } from '../webhook-receiver.ts';
import { World } from '../world.ts';

/**
 * One hostile team at full force, and a neighbour who does the usual: nothing is refused, and the slowest of each operation
 * takes at most twice as long as at rest.
 */

/** Noise only adds time, and a starved client is starved every time: the best of this many measurements of an operation counts. */
const MEASUREMENTS = 4;

const PORTS = { first: 42_000, last: 42_299 };
/** Port of the TLS name entry. */
let nameDoor: number;

let world: World;
let neighbour: Neighbour;
let hostile: HostileTeam;
/** Measured at the start and right before the attack, because other load on the machine varies. */
let atRest: Slowest;
let atFirst: Slowest;

/** @returns the operations that exceed their limit, with their durations */
async function tooSlowOf(operations: readonly Operation[], noiseMs: number): Promise<Map<Operation, string>> {
  const slowest = await neighbour.measure();
  const mayTake = (rest: number): number => Math.max(2 * rest, rest + noiseMs);
  const tooSlow = operations.filter((operation) => slowest[operation] > mayTake(atRest[operation]));
  return new Map(
    tooSlow.map((operation) => [operation, `${slowest[operation].toFixed(0)} ms, at rest ${atRest[operation].toFixed(0)} ms`]),
  );
}

async function expectServed(noiseMs: number): Promise<void> {
  let tooSlow = await tooSlowOf(OPERATIONS, noiseMs);
  for (let n = 1; n < MEASUREMENTS && tooSlow.size > 0; n += 1) tooSlow = await tooSlowOf([...tooSlow.keys()], noiseMs);
  expect(Object.fromEntries(tooSlow)).toEqual({});
}

/** Each starts its attack and returns when it is at full force; the attack runs until the hostile team is closed. */
const ATTACKS: Record<string, () => Promise<void>> = {
  'a silent agent with 500 invented routers, each with an express job': async () => {
    const agent = await hostile.agent();
    await hostile.queueJobs(await hostile.inventRouters(agent, 500));
    await waitUntil('many are offered', () => agent.log.filter((line) => line.startsWith('onOffer')).length >= 64);
  },

  'jobs with backups that agents never finish to send': async () => {
    let asked = 0;
    for (let n = 0; n < 5; n += 1) {
      const agent = await hostile.agent((each) => {
        runsAllJobs(each);
        each.requests['backup.read'] = (params, context) => {
          asked += 1;
          return never(params, context);
        };
      });
      await hostile.queueJobs(await hostile.inventRouters(agent, 50), { make_backup: true });
    }
    await waitUntil('backups are asked for', () => asked >= 4);
  },

  'webhooks to receivers that hang, the one of the neighbour among them': async () => {
    const receivers = await Promise.all(Array.from({ length: 4 }, () => WebhookReceiver.start()));
    hostile.defer(() => Promise.all(receivers.map((receiver) => receiver.close())));
    for (const receiver of receivers) receiver.reply = hang;
    const agent = await hostile.agent(runsAllJobs);
    const routerIds = await hostile.inventRouters(agent, 100);
    for (const { url } of [neighbour.receiver, ...receivers]) await hostile.queueJobs(routerIds, { notify_url: `${url}/hang` });
    await waitUntil('they hang', () => neighbour.receiver.open >= 3);
  },

  'event streams opened to the limit and not read': async () => {
    const sockets: net.Socket[] = [];
    hostile.defer(() => sockets.forEach((socket) => socket.destroy()));
    const agent = await hostile.agent(runsAllJobs);
    const routerIds = await hostile.inventRouters(agent, 100);
    for (let key = 0; key < 20; key += 1) {
      const { apiKey } = await world.server.services.credentials.createApiKey({
        teamId: hostile.caller.teamId,
        name: `key ${key}`,
        createdBy: null,
      });
      for (let n = 0; n < 5; n += 1) {
        const socket = net
          .connect({ host: '127.0.0.1', port: hostile.port })
          .on('error', () => undefined)
          .pause();
        socket.write(`GET /api/events HTTP/1.1\r\nhost: x\r\nauthorization: Bearer ${apiKey}\r\n\r\n`);
        sockets.push(socket);
      }
    }
    await waitUntil('they are open', () => world.server.services.events.openStreams >= 90);
    await hostile.queueJobs(routerIds);
  },

  'many campaigns over 200 silent routers': async () => {
    const agent = await hostile.agent();
    const router_ids = await hostile.inventRouters(agent, 200);
    const body = {
      router_ids,
      description: 'hostile',
      script: ':put 1',
      make_backup: false,
      express_execute: true,
      needs_acknowledgement: true,
    };
    await hostile.each(Array.from({ length: 10 }), () => hostile.must('POST', '/api/campaigns', body));
  },

  'agents that come back again and again': async () => {
    const stop = new AbortController();
    const storms: Promise<void>[] = [];
    hostile.defer(async () => {
      stop.abort();
      await Promise.all(storms);
    });
    for (let n = 0; n < 20; n += 1) {
      const { identity } = await hostile.agent();
      const storm = async (): Promise<void> => {
        while (!stop.signal.aborted) {
          const socket = net.connect({ host: '127.0.0.1', port: hostile.port }).on('error', () => undefined);
          socket.write(
            `GET /agent/v1/tunnel HTTP/1.1\r\nhost: x\r\nconnection: upgrade\r\nupgrade: websocket\r\nsec-websocket-version: 13\r\n` +
              `sec-websocket-key: AAAAAAAAAAAAAAAAAAAAAA==\r\nsec-websocket-protocol: signalbox.v1\r\n` +
              `authorization: Bearer ${identity.agentId}:${identity.secret}\r\n\r\n`,
          );
          hostile.defer(() => socket.destroy());
          await Promise.race([once(socket, 'data'), once(socket, 'close')]);
          await new Promise((resolve) => setTimeout(resolve, 100));
        }
      };
      storms.push(storm());
    }
  },

  'silent clients at the TLS name entry': async () => {
    const sockets: net.Socket[] = [];
    hostile.defer(() => sockets.forEach((socket) => socket.destroy()));
    for (let n = 0; n < 2100; n += 1) {
      const socket = net.connect({ host: '127.0.0.1', port: nameDoor }).on('error', () => undefined);
      sockets.push(socket);
      if (n % 50 === 0) await once(socket, 'connect');
    }
  },

  'forwards made and deleted until there are no ports': async () => {
    const agent = await hostile.agent();
    const [routerId] = await hostile.inventRouters(agent, 1);
    await agent.stop();
    await useUpPorts(routerId!, { keep: false });
  },

  'forwards kept on as many ports as there are': async () => {
    const agent = await hostile.agent();
    const routerIds = await hostile.inventRouters(agent, 4);
    await agent.stop();
    for (const routerId of routerIds) await useUpPorts(routerId, { keep: true });
  },
};

/** Until it is refused. */
async function useUpPorts(routerId: string, { keep }: { keep: boolean }): Promise<void> {
  const forwards = `/api/routers/${routerId}/transient-forwarding`;
  const body = { expire_after_minutes: 10, dst_port: 1, dst_address: '10.0.0.1', allow_from: '127.0.0.1' };
  let refused = false;
  await hostile.each(Array.from({ length: PORTS.last - PORTS.first + 2 }), async () => {
    if (refused) return;
    const made = await hostile.caller.call<{ id: string }>('POST', forwards, body);
    refused ||= made.status >= 300;
    if (!refused && !keep) await hostile.must('DELETE', `${forwards}/${made.body.id}`);
  });
}

/**
 * @param noiseMs what an operation may take longer than at rest, whatever it takes there. Attackers, server, agent and simulated
 *   router share one process here, so operations of a few milliseconds would fail by a collection of garbage and not by the attack
 */
export function describeNeighbours({ noiseMs }: { noiseMs: number }): void {
  beforeAll(async () => {
    nameDoor = await freePort();
    world = await World.start({
      routers: [{}, {}, {}],
      server: {
        SIGNALBOX_FORWARD_PORTS: `${PORTS.first}-${PORTS.last}`,
        SIGNALBOX_FORWARD_DOMAIN: 'forward.example.net',
        SIGNALBOX_FORWARD_NAME_LISTEN: `127.0.0.1:${nameDoor}`,
      },
    });
    neighbour = await Neighbour.start(world);
    await neighbour.measure();
    atFirst = await neighbour.measure();
  });
  afterAll(async () => {
    await neighbour.close();
    await world.close();
  });
  beforeEach(async () => {
    const now = await neighbour.measure();
    atRest = Object.fromEntries(OPERATIONS.map((operation) => [operation, Math.max(atFirst[operation], now[operation])])) as Slowest;
    hostile = await HostileTeam.join(world);
  });
  afterEach(() => hostile.close());

  describe('a neighbour is served as at rest beside a team with', () => {
    it.each(Object.entries(ATTACKS))('%s', { timeout: 150_000 }, async (_name, attack) => {
      await attack();
      await expectServed(noiseMs);
    });
  });
}
