import { once } from 'node:events';
import net from 'node:net';
import { expect } from 'vitest';
import { HostileTeam, never, runsAllJobs } from './hostile-team.ts';
import type { Neighbour } from './neighbour.ts';
import { scrape } from '../metrics.ts';
import { waitUntil } from '../wait-until.ts';
import { hang, WebhookReceiver } from '../webhook-receiver.ts';
import type { World } from '../world.ts';

/** Far more than the neighbour uses in ten minutes, so that only a hostile team can use up its share. */
export const PORTS = { first: 42_000, last: 42_999 };
/** More than `FORWARD_LIMITS.pendingConnections`. */
const SILENT_CLIENTS = 2100;

interface Scene {
  world: World;
  hostile: HostileTeam;
  neighbour: Neighbour;
  /** Port of the TLS name entry. */
  nameDoor: number;
}

/**
 * What the attack takes, as the server itself counts it, or what it has done since the last call. An attack that does nothing
 * has 0 and would prove nothing.
 */
type Strength = () => number | Promise<number>;

/** Each starts its attack and returns when it is at full force; the attack runs until the hostile team is closed. */
export const ATTACKS: Record<string, (scene: Scene) => Promise<Strength>> = {
  'a silent agent with 500 invented routers, each with an express job': async ({ world, hostile }) => {
    const agent = await hostile.agent();
    await hostile.queueJobs(await hostile.inventRouters(agent, 500));
    await waitUntil('many are offered', () => agent.log.filter((line) => line.startsWith('onOffer')).length >= 64);
    return () => inUse(world, 'job_offers');
  },

  'jobs with backups that agents never finish to send': async ({ world, hostile }) => {
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
    return () => inUse(world, 'backup_fetches');
  },

  'webhooks to receivers that hang, the one of the neighbour among them': async ({ world, hostile, neighbour }) => {
    const receivers = await Promise.all(Array.from({ length: 4 }, () => WebhookReceiver.start()));
    hostile.defer(() => Promise.all(receivers.map((receiver) => receiver.close())));
    for (const receiver of receivers) receiver.reply = hang;
    const agent = await hostile.agent(runsAllJobs);
    const routerIds = await hostile.inventRouters(agent, 100);
    for (const { url } of [neighbour.receiver, ...receivers]) await hostile.queueJobs(routerIds, { notify_url: `${url}/hang` });
    await waitUntil('they hang', () => neighbour.receiver.open >= 3);
    return () => inUse(world, 'webhook_attempts');
  },

  'event streams opened to the limit and not read': async ({ world, hostile }) => {
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
        const socket = dial(hostile.port).pause();
        socket.write(`GET /api/events HTTP/1.1\r\nhost: x\r\nauthorization: Bearer ${apiKey}\r\n\r\n`);
        sockets.push(socket);
      }
    }
    await waitUntil('they are open', () => world.server.services.events.openStreams >= 90);
    await hostile.queueJobs(routerIds);
    // The neighbour has one.
    return async () => (await inUse(world, 'event_streams')) - 1;
  },

  'many campaigns over 200 silent routers': async ({ world, hostile }) => {
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
    const open = async (): Promise<number> => ofTeam(world, hostile, 'signalbox_jobs', { phase: 'queued' });
    await waitUntil('each has jobs', async () => (await open()) >= 10);
    return open;
  },

  'agents that come back again and again': async ({ world, hostile }) => {
    const stop = new AbortController();
    const storms: Promise<void>[] = [];
    hostile.defer(async () => {
      stop.abort();
      await Promise.all(storms);
    });
    const storm = async (again: () => Promise<void>): Promise<void> => {
      while (!stop.signal.aborted) {
        await again();
        await new Promise((resolve) => setTimeout(resolve, 100));
      }
    };
    for (let n = 0; n < 10; n += 1) {
      const { identity } = await hostile.agent();
      storms.push(storm(() => dialTunnel(hostile, identity)));
    }
    // These take a session each time.
    for (let n = 0; n < 10; n += 1) {
      const agent = await hostile.agent();
      await agent.stop();
      storms.push(storm(() => hostile.session(agent)));
    }
    return grownSince(async () => ofTeam(world, hostile, 'signalbox_agent_sessions_opened_total'));
  },

  'silent clients at the TLS name entry': async ({ hostile, nameDoor }) => {
    const sockets = new Set<net.Socket>();
    let displaced = 0;
    let open = true;
    hostile.defer(() => {
      open = false;
      for (const socket of sockets) socket.destroy();
    });
    const knock = (): net.Socket => {
      const socket = dial(nameDoor);
      sockets.add(socket);
      socket.once('close', () => {
        sockets.delete(socket);
        displaced += 1;
        // Each that the server resets comes back, at a rate that leaves this process time for the server.
        if (open) setTimeout(() => open && knock(), 200);
      });
      return socket;
    };
    for (let n = 0; n < SILENT_CLIENTS; n += 1) {
      const socket = knock();
      if (n % 50 === 0) await once(socket, 'connect');
    }
    return grownSince(() => displaced);
  },

  'forwards made and deleted until there are no ports': async ({ world, hostile }) => {
    const agent = await hostile.agent();
    const [routerId] = await hostile.inventRouters(agent, 1);
    await agent.stop();
    await useUpPorts(hostile, routerId!, { keep: false });
    // Ports in quarantine.
    return () => inUse(world, 'forward_ports');
  },

  'forwards kept on as many ports as there are': async ({ world, hostile }) => {
    const agent = await hostile.agent();
    const routerIds = await hostile.inventRouters(agent, 6);
    await agent.stop();
    for (const routerId of routerIds) await useUpPorts(hostile, routerId, { keep: true });
    return () => ofTeam(world, hostile, 'signalbox_forwards');
  },
};

/** Until it is refused. */
async function useUpPorts(hostile: HostileTeam, routerId: string, { keep }: { keep: boolean }): Promise<void> {
  const forwards = `/api/routers/${routerId}/transient-forwarding`;
  const body = { expire_after_minutes: 10, dst_port: 1, dst_address: '10.0.0.1', allow_from: '127.0.0.1' };
  const refusals: number[] = [];
  await hostile.each(Array.from({ length: PORTS.last - PORTS.first + 2 }), async () => {
    if (refusals.length > 0) return;
    const made = await hostile.caller.call<{ id: string }>('POST', forwards, body);
    if (made.status >= 300) refusals.push(made.status);
    else if (!keep) await hostile.must('DELETE', `${forwards}/${made.body.id}`);
  });
  // Otherwise this would be no attack.
  expect(refusals).toContainEqual(expect.toBeOneOf([409, 429, 503]));
}

async function dialTunnel(hostile: HostileTeam, { agentId, secret }: { agentId: string; secret: string }): Promise<void> {
  const socket = dial(hostile.port);
  socket.write(
    `GET /agent/v1/tunnel HTTP/1.1\r\nhost: x\r\nconnection: upgrade\r\nupgrade: websocket\r\nsec-websocket-version: 13\r\n` +
      `sec-websocket-key: AAAAAAAAAAAAAAAAAAAAAA==\r\nsec-websocket-protocol: signalbox.v1\r\n` +
      `authorization: Bearer ${agentId}:${secret}\r\n\r\n`,
  );
  hostile.defer(() => socket.destroy());
  await Promise.race([once(socket, 'data'), once(socket, 'close')]);
}

function dial(port: number): net.Socket {
  return net.connect({ host: '127.0.0.1', port }).on('error', () => undefined);
}

async function inUse(world: World, resource: string): Promise<number> {
  return (await scrape(world)).value('signalbox_shared_in_use', { resource }) ?? 0;
}

async function ofTeam(world: World, { caller }: HostileTeam, metric: string, labels: Record<string, string> = {}): Promise<number> {
  return (await scrape(world)).value(metric, { team: caller.teamId, ...labels }) ?? 0;
}

/** How much a counter has grown since the last call; the first call has all of it. */
function grownSince(count: Strength): Strength {
  let last = 0;
  return async () => {
    const now = await count();
    const grown = now - last;
    last = now;
    return grown;
  };
}
