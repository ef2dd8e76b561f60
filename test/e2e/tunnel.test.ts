import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import net from 'node:net';
import type { Socket } from 'node:net';
import { WebSocket } from 'ws';
import { afterEach, describe, expect, test } from 'vitest';
import { AgentError } from '../../agent/core/errors.ts';
import { MAX_CHANNEL_MESSAGE_BYTES, MAX_MESSAGE_BYTES } from '../../protocol/index.ts';
import { RecordedEvents } from '../harness/recorded-events.ts';
import { StallProxy } from '../harness/stall-proxy.ts';
import { TestAgent, TunnelServer } from '../harness/tunnel-world.ts';
import { waitUntil } from '../harness/wait-until.ts';
import { Stopwatch } from '../harness/stopwatch.ts';

const cleanups: (() => Promise<void>)[] = [];

afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup();
});

async function startServer(...args: ConstructorParameters<typeof TunnelServer>): Promise<TunnelServer> {
  const server = await new TunnelServer(...args).listen();
  cleanups.push(() => server.close());
  return server;
}

function startAgent(server: TunnelServer, port = server.port): TestAgent {
  const agent = new TestAgent(server.sessions.add(), port).start();
  cleanups.push(() => agent.stop());
  return agent;
}

async function startProxy(port: number): Promise<StallProxy> {
  const proxy = await StallProxy.start(port);
  cleanups.push(() => proxy.close());
  return proxy;
}

async function connected(server: TunnelServer, agent: TestAgent): Promise<void> {
  await waitUntil(
    'the agent is ready',
    () => server.registry.epoch(agent.identity.agentId) !== undefined && agent.link.epoch !== undefined,
  );
}

const command = { router: 'one', hardware_id: 'HW1', path: '/ip/address/print', words: [] };

describe('a command over the tunnel', () => {
  test('returns its rows and its reply', async () => {
    const server = await startServer();
    const agent = startAgent(server);
    agent.requests.command = async (params, { sendRows }) => {
      await sendRows([{ '.id': '*1', path: params.path }]);
      return { ret: '*1' };
    };
    await connected(server, agent);
    const rows: unknown[] = [];
    const reply = await server.registry.request(agent.identity.agentId, 'command', command, {
      timeoutMs: 2000,
      onRows: (batch) => rows.push(...batch),
    });
    expect(reply).toEqual({ ret: '*1' });
    expect(rows).toEqual([{ '.id': '*1', path: '/ip/address/print' }]);
  });

  test("reports the router's refusal as an error with its category", async () => {
    const server = await startServer();
    const agent = startAgent(server);
    agent.requests.command = () => Promise.reject(new AgentError('rejected', 'no such command', { category: 0 }));
    await connected(server, agent);
    await expect(server.registry.request(agent.identity.agentId, 'command', command, { timeoutMs: 2000 })).rejects.toMatchObject({
      code: 'rejected_by_router',
      message: 'no such command',
      extra: { category: 0 },
    });
  });

  test('fails at once when the agent has no tunnel', async () => {
    const server = await startServer();
    await expect(server.registry.request(randomUUID(), 'command', command, { timeoutMs: 60_000 })).rejects.toMatchObject({
      code: 'agent_offline',
    });
  });
});

describe('an unanswered command', () => {
  test('ends at its timeout, at the agent too', async () => {
    const server = await startServer();
    const agent = startAgent(server);
    const aborted = Promise.withResolvers<never>();
    agent.requests.command = (_params, { signal }) => {
      signal.addEventListener('abort', () => aborted.reject(new AgentError('outcome_unknown', 'no answer')));
      return aborted.promise;
    };
    await connected(server, agent);
    const stopwatch = new Stopwatch();
    await expect(server.registry.request(agent.identity.agentId, 'command', command, { timeoutMs: 300 })).rejects.toMatchObject({
      code: 'outcome_unknown',
    });
    expect(stopwatch.ms).toBeLessThan(600);
    await expect(aborted.promise).rejects.toThrow('no answer');
  });

  test('ends at once when the agent disconnects', async () => {
    const server = await startServer();
    const agent = startAgent(server);
    agent.requests.command = () => new Promise(() => undefined);
    await connected(server, agent);
    const answer = server.registry.request(agent.identity.agentId, 'command', command, { timeoutMs: 60_000 });
    const outcome = expect(answer).rejects.toMatchObject({ code: 'outcome_unknown' });
    await agent.link.stop(0);
    await outcome;
  });
});

test('16 MB of rows arrive in order while heartbeats pass between them', async () => {
  const server = await startServer({ heartbeatMs: 100 });
  const agent = startAgent(server);
  const count = 40_000;
  agent.requests.command = async (_params, { sendRows }) => {
    await sendRows(Array.from({ length: count }, (_, index) => ({ '.id': `*${index.toString(16)}`, comment: 'x'.repeat(330) })));
    return {};
  };
  await connected(server, agent);
  let next = 0;
  await server.registry.request(agent.identity.agentId, 'command', command, {
    timeoutMs: 20_000,
    onRows: (rows) => {
      for (const row of rows) {
        if (row['.id'] !== `*${next.toString(16)}`) throw new Error(`row ${next} is missing`);
        next += 1;
      }
    },
  });
  expect(next).toBe(count);
});

describe('one agent, several connections', () => {
  test('the second one wins; the first gets the reason and waits before it reconnects', async () => {
    const server = await startServer();
    const first = startAgent(server);
    await connected(server, first);
    const second = first.twin(server.port).start();
    cleanups.push(() => second.stop());
    await waitUntil('the second is ready', () => second.link.epoch === 2 && server.registry.epoch(first.identity.agentId) === 2);
    await waitUntil('the first is down', () => first.log.includes('down'));
    expect(server.events.story).toEqual(['ready #1', 'gone #1', 'ready #2']);
    expect(first.link.epoch).toBeUndefined();
  });

  test('a broken tunnel is dialled again and gets a new epoch', async () => {
    const server = await startServer();
    const proxy = await startProxy(server.port);
    const agent = startAgent(server, proxy.port);
    await connected(server, agent);
    proxy.cut();
    await waitUntil('the second tunnel is ready', () => agent.link.epoch === 2);
    expect(agent.log).toEqual(['ready #1', 'down', 'ready #2']);
    await waitUntil('the server agrees', () => server.events.story.length === 3);
    expect(server.events.story).toEqual(['ready #1', 'gone #1', 'ready #2']);
  });

  test('both ends detect a connection that drops everything', async () => {
    const server = await startServer({ pingMs: 100, silenceMs: 300 });
    const proxy = await startProxy(server.port);
    const agent = startAgent(server, proxy.port);
    await connected(server, agent);
    proxy.stall();
    await waitUntil('the server noticed', () => server.events.story.includes('gone #1'));
    await waitUntil('the agent noticed', () => agent.log.includes('down'));
    // Dials made meanwhile are stuck in the line.
    proxy.flow();
    proxy.cut();
    await waitUntil('the agent is back', () => server.registry.epoch(agent.identity.agentId) !== undefined);
  });
});

test('at shutdown agents receive goaway and reconnect to the next server', async () => {
  const gone: number[] = [];
  const events = new RecordedEvents({ onGone: ({ epoch }) => gone.push(epoch) });
  const server = await new TunnelServer({}, events).listen();
  const agent = startAgent(server);
  await connected(server, agent);
  const { port } = server;
  await server.close();
  expect(gone).toEqual([1]);
  await waitUntil('the agent knows', () => agent.log.includes('down'));
  await once(server.server, 'close');
  // The pause of goaway is up to 10 s; a process that starts afresh does not know of it.
  const next = await new TunnelServer({}, new RecordedEvents(), server.sessions).listen(port);
  cleanups.push(() => next.close());
  const restarted = agent.twin(port).start();
  cleanups.push(() => restarted.stop());
  await connected(next, restarted);
  expect(next.registry.epoch(agent.identity.agentId)).toBe(2);
});

test('100 agents at once, each with its own answers', async () => {
  const server = await startServer();
  const agents = Array.from({ length: 100 }, () => startAgent(server));
  for (const agent of agents) agent.requests.command = async () => ({ ret: agent.identity.agentId });
  await Promise.all(agents.map((agent) => connected(server, agent)));
  const answers = await Promise.all(
    agents.flatMap(({ identity: { agentId } }) =>
      Array.from({ length: 10 }, async () => {
        const reply = await server.registry.request(agentId, 'command', command, { timeoutMs: 10_000 });
        return reply.ret === agentId;
      }),
    ),
  );
  expect(answers.filter(Boolean)).toHaveLength(1000);
});

describe('channels', () => {
  test('reach their forward with its token, as a WebSocket that accepts messages at once', async () => {
    const server = await startServer();
    const agent = startAgent(server);
    const received = new Promise<string>((resolve) => {
      void agent.dialer.dialChannel('forward-1', (socket) => {
        socket.on('message', (data) => resolve((data as Buffer).toString()));
        socket.send('up');
      });
    });
    await waitUntil('the channel is there', () => server.channels.length === 1);
    const [channel] = server.channels;
    expect(channel?.context).toBe('forward-1');
    channel?.socket.send(Buffer.from('down'));
    expect(await received).toBe('down');
  });

  test('need a valid token', async () => {
    const server = await startServer();
    const agent = startAgent(server);
    await expect(agent.dialer.dialChannel('nonsense', () => undefined)).rejects.toMatchObject({ code: 'unauthorized' });
  });

  test('are closed by a message over the limit', async () => {
    const server = await startServer();
    const agent = startAgent(server);
    const closed = new Promise<number>((resolve) => {
      void agent.dialer.dialChannel('forward-1', (socket) => {
        socket.on('close', resolve);
        socket.send(Buffer.alloc(MAX_CHANNEL_MESSAGE_BYTES + 1));
      });
    });
    expect(await closed).toBe(1009);
  });

  test('abort their dial with its signal', async () => {
    const silent = net.createServer().listen(0, '127.0.0.1');
    await once(silent, 'listening');
    cleanups.push(async () => void silent.close());
    const { port } = silent.address() as net.AddressInfo;
    const agent = new TestAgent({ agentId: randomUUID(), secret: 's' }, port);
    const abort = new AbortController();
    const dial = agent.dialer.dialChannel('forward-1', () => undefined, { signal: abort.signal });
    const outcome = expect(dial).rejects.toMatchObject({ code: 'cancelled' });
    abort.abort();
    await outcome;
    await expect(agent.dialer.dialChannel('forward-1', () => undefined, { timeoutMs: 50 })).rejects.toMatchObject({ code: 'timeout' });
  });
});

describe('bad peers', () => {
  const good = (server: TunnelServer): string => {
    const { agentId, secret } = server.sessions.add();
    return `Bearer ${agentId}:${secret}`;
  };

  function dial(server: TunnelServer, authorization: string, subprotocol = 'signalbox.v1', path = '/agent/v1/tunnel'): WebSocket {
    const ws = new WebSocket(`ws://127.0.0.1:${server.port}${path}`, subprotocol, { headers: { authorization } });
    cleanups.push(async () => ws.terminate());
    return ws;
  }

  const closeCode = async (ws: WebSocket): Promise<number> => {
    ws.on('error', () => undefined);
    const [code] = (await once(ws, 'close')) as [number];
    return code;
  };

  /** Status line and body of the answer to a plain request. */
  async function answer(server: TunnelServer, request: string[]): Promise<string> {
    const socket = net.connect(server.port, '127.0.0.1');
    socket.write(`${request.join('\r\n')}\r\n\r\n`);
    let text = '';
    for await (const chunk of socket) text += (chunk as Buffer).toString();
    return text;
  }

  const upgrade = (path: string, ...headers: string[]): string[] => [
    `GET ${path} HTTP/1.1`,
    'Host: x',
    'Connection: Upgrade',
    'Upgrade: websocket',
    'Sec-WebSocket-Version: 13',
    'Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==',
    ...headers,
  ];

  test.each([
    { case: 'no credential', path: '/agent/v1/tunnel', headers: ['Sec-WebSocket-Protocol: signalbox.v1'], status: 401 },
    {
      case: 'a wrong credential',
      path: '/agent/v1/tunnel',
      headers: ['Sec-WebSocket-Protocol: signalbox.v1', 'Authorization: Bearer a:b'],
      status: 401,
    },
    {
      case: 'a wrong channel token',
      path: '/agent/v1/channel',
      headers: ['Sec-WebSocket-Protocol: signalbox.v1', 'Authorization: Bearer x'],
      status: 401,
    },
    {
      case: 'another subprotocol',
      path: '/agent/v1/tunnel',
      headers: ['Sec-WebSocket-Protocol: chat', 'Authorization: Bearer a:b'],
      status: 400,
    },
    { case: 'no subprotocol', path: '/agent/v1/tunnel', headers: ['Authorization: Bearer a:b'], status: 400 },
    { case: 'another path', path: '/elsewhere', headers: [], status: 404 },
  ])('$case: $status with a body', async ({ path, headers, status }) => {
    const server = await startServer();
    const [head = '', body = ''] = (await answer(server, upgrade(path, ...headers))).split('\r\n\r\n');
    expect(head.split('\r\n')[0]).toContain(String(status));
    expect(body.length).toBeGreaterThan(10);
  });

  test('get sixty credential checks a minute per address; a valid agent behind it still connects', async () => {
    const server = await startServer();
    const dialAs = async (bearer: string) =>
      (await answer(server, upgrade('/agent/v1/tunnel', 'Sec-WebSocket-Protocol: signalbox.v1', `Authorization: ${bearer}`))).split(
        '\r\n',
      )[0];
    const credential = good(server);
    const first = dial(server, credential);
    await once(first, 'open');
    first.terminate();
    const refusals = new Map<string | undefined, number>();
    for (let i = 0; i < 62; i += 1) {
      const status = await dialAs(`Bearer stranger-${i}:b`);
      refusals.set(status, (refusals.get(status) ?? 0) + 1);
    }
    expect(Object.fromEntries(refusals)).toEqual({ 'HTTP/1.1 401 Unauthorized': 60, 'HTTP/1.1 429 Too Many Requests': 2 });
    const again = dial(server, credential);
    await once(again, 'open');
    again.terminate();
    // As real channel tokens look: the forward's id, which no agent was let in with, and a secret.
    await once(dial(server, 'Bearer forward-1:secret', 'signalbox.v1', '/agent/v1/channel'), 'open');
  });

  test('leave nothing behind when they hang up during the check', async () => {
    const checks: PromiseWithResolvers<void>[] = [];
    const server = await startServer();
    const { authenticateAgent } = server.callbacks;
    server.callbacks.authenticateAgent = async (bearer) => {
      const gate = Promise.withResolvers<void>();
      checks.push(gate);
      await gate.promise;
      return authenticateAgent(bearer);
    };
    const socket: Socket = net.connect(server.port, '127.0.0.1');
    socket.write(
      `${upgrade('/agent/v1/tunnel', 'Sec-WebSocket-Protocol: signalbox.v1', `Authorization: ${good(server)}`).join('\r\n')}\r\n\r\n`,
    );
    await waitUntil('the check runs', () => checks.length === 1);
    socket.resetAndDestroy();
    await new Promise((resolve) => server.server.getConnections(resolve));
    checks[0]?.resolve();
    await waitUntil('the connection is gone', () => server.registry.size === 0);
  });

  test('garbage: goaway protocol, closed with 4400', async () => {
    const server = await startServer();
    const ws = dial(server, good(server));
    await once(ws, 'open');
    const goaway = once(ws, 'message');
    const code = closeCode(ws);
    ws.send('EHLO');
    expect(JSON.parse(String((await goaway)[0]))).toMatchObject({ type: 'goaway', reason: 'protocol' });
    expect(await code).toBe(4400);
  });

  test('a message over the limit: closed with 1009', async () => {
    const server = await startServer();
    const ws = dial(server, good(server));
    await once(ws, 'open');
    const code = closeCode(ws);
    ws.send('x'.repeat(MAX_MESSAGE_BYTES + 1));
    expect(await code).toBe(1009);
    await waitUntil('nothing is left', () => server.registry.size === 0);
  });

  test('bytes that are not WebSocket frames: closed', async () => {
    const server = await startServer();
    const socket = net.connect(server.port, '127.0.0.1');
    socket.write(
      `${upgrade('/agent/v1/tunnel', 'Sec-WebSocket-Protocol: signalbox.v1', `Authorization: ${good(server)}`).join('\r\n')}\r\n\r\n`,
    );
    await once(socket, 'data');
    socket.resume();
    socket.write(Buffer.alloc(1000, 0xff));
    await once(socket, 'close');
    await waitUntil('nothing is left', () => server.registry.size === 0);
  });

  test('hello in the same packet as the upgrade is not lost', async () => {
    const server = await startServer();
    const hello = JSON.stringify({
      type: 'hello',
      versions: [1],
      agent_version: '1',
      journal_id: randomUUID(),
      last_epoch: 0,
      routers: [],
    });
    const frame = Buffer.concat([Buffer.from([0x81, 0x80 | 126, hello.length >> 8, hello.length & 255, 0, 0, 0, 0]), Buffer.from(hello)]);
    const head = `${upgrade('/agent/v1/tunnel', 'Sec-WebSocket-Protocol: signalbox.v1', `Authorization: ${good(server)}`).join('\r\n')}\r\n\r\n`;
    const socket = net.connect(server.port, '127.0.0.1');
    cleanups.push(async () => void socket.destroy());
    socket.write(Buffer.concat([Buffer.from(head), frame]));
    let text = '';
    socket.on('data', (chunk: Buffer) => (text += chunk.toString()));
    await waitUntil('welcome came', () => text.includes('"welcome"'));
  });

  test('an agent with a wrong secret keeps trying and connects once the secret is right', async () => {
    const server = await startServer();
    const identity = server.sessions.add();
    const known = server.sessions.agents.get(identity.agentId)!;
    known.secret = 'another';
    const agent = new TestAgent(identity, server.port).start();
    cleanups.push(() => agent.stop());
    await waitUntil('it was refused', () => server.refusals > 1);
    known.secret = 'secret';
    await connected(server, agent);
  });
});
