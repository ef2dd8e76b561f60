import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { createServer, Socket } from 'node:net';
import process from 'node:process';
import { promisify } from 'node:util';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { AgentError } from '../../../agent/core/errors.ts';
import { connectRouterOsApi, type RouterOsApi, type RouterOsApiOptions, RouterTraps } from '../../../agent/routers/routeros-api/index.ts';
import { type Heard, type ScriptedRouter, sentence, startScriptedRouter } from './scripted-router.ts';

const run = promisify(execFile);

/** One test for each guard around node-routeros, against a peer that sends exactly the bytes that hurt it. */

const SOON = { timeoutMs: 5000 };
const PRINT = { path: '/ip/address/print', words: [] };
const open: (() => Promise<void>)[] = [];

afterEach(async () => {
  for (const close of open.splice(0).reverse()) await close();
});

async function scripted(answer: (heard: Heard) => void, options?: Parameters<typeof startScriptedRouter>[1]): Promise<ScriptedRouter> {
  const router = await startScriptedRouter(answer, options);
  open.push(() => router.close());
  return router;
}

async function connect(router: { port: number }, options: Partial<RouterOsApiOptions> = {}): Promise<RouterOsApi> {
  const api = await connectRouterOsApi({
    host: '127.0.0.1',
    port: router.port,
    username: 'admin',
    password: 'secret',
    deadline: SOON,
    ...options,
  });
  open.push(() => api.close());
  return api;
}

async function failure(work: Promise<unknown>): Promise<AgentError> {
  const outcome = await work.then(
    () => 'no error',
    (error: unknown) => error,
  );
  if (!(outcome instanceof AgentError)) throw new Error(`not an AgentError: ${String(outcome)}`);
  return outcome;
}

describe('replies', () => {
  it('are rows in the router’s own names, and the value of !done', async () => {
    const router = await scripted(({ reply }) => {
      reply('!re', '=.id=*1', '=address=10.0.0.1/24', '=comment=a=b');
      reply('!re');
      reply('!done', '=ret=*2');
    });
    const api = await connect(router);
    expect(await api.command(PRINT, SOON)).toEqual({ rows: [{ '.id': '*1', address: '10.0.0.1/24', comment: 'a=b' }, {}], ret: '*2' });
  });

  it('without rows (!empty, 7.18) are empty, and the session continues', async () => {
    const router = await scripted(({ reply }) => {
      reply('!empty');
      reply('!done');
    });
    const api = await connect(router);
    expect(await api.command(PRINT, SOON)).toEqual({ rows: [] });
    expect(await api.command(PRINT, SOON)).toEqual({ rows: [] });
  });

  it('arrive even when their last zero byte comes in a separate segment', async () => {
    const router = await scripted(({ socket, tag }) => {
      const bytes = sentence('!done', `.tag=${tag}`);
      socket.write(bytes.subarray(0, -1), () => setImmediate(() => socket.write(bytes.subarray(-1))));
    });
    const api = await connect(router);
    expect(await api.command(PRINT, SOON)).toEqual({ rows: [] });
  });

  it('keep every character in both directions', async () => {
    const router = await scripted(({ reply, words }) => {
      reply('!re', ...words);
      reply('!done');
    });
    const api = await connect(router);
    const { rows } = await api.command({ path: '/x/print', words: ['=name=Łódź 日本 €\u0081'] }, SOON);
    expect(rows).toEqual([{ name: 'Łódź 日本 €\u0081' }]);
  });

  it('of 5 MB in one word arrive completely', async () => {
    const contents = 'x'.repeat(5_000_000);
    const router = await scripted(({ reply }) => {
      reply('!re', `=contents=${contents}`);
      reply('!done');
    });
    const api = await connect(router);
    const { rows } = await api.command(PRINT, SOON);
    expect(rows[0]?.['contents']).toBe(contents);
  });

  it('that no command waits for are ignored, with or without a tag', async () => {
    const router = await scripted(({ reply, socket }) => {
      socket.write(Buffer.concat([sentence('!re', '.tag=gone', '=a=b'), sentence('!done', '.tag=gone'), sentence('!done')]));
      reply('!done');
    });
    const api = await connect(router);
    expect(await api.command(PRINT, SOON)).toEqual({ rows: [] });
    expect(await api.command(PRINT, SOON)).toEqual({ rows: [] });
  });

  it('are matched to thousands of commands, in any order', async () => {
    const waiting: Heard[] = [];
    const router = await scripted((heard) => {
      waiting.push(heard);
      if (waiting.length < 3000) return;
      for (const { reply, words } of waiting.reverse()) {
        reply('!re', ...words);
        reply('!done');
      }
    });
    const api = await connect(router);
    const numbers = Array.from({ length: 3000 }, (_, n) => String(n));
    const replies = await Promise.all(numbers.map((n) => api.command({ path: '/x/print', words: [`=n=${n}`] }, { timeoutMs: 20_000 })));
    expect(replies.map(({ rows }) => rows[0]?.['n'])).toEqual(numbers);
  });

  it('of 50,000 rows do not block the event loop', async () => {
    const rows = Buffer.concat(
      Array.from({ length: 50_000 }, (_, n) =>
        sentence('!re', '.tag=s2', `=.id=*${n}`, '=address=10.0.0.1', '=mac-address=02:00:00:00:00:01'),
      ),
    );
    const router = await scripted(({ socket, reply }) => {
      socket.write(rows);
      reply('!done');
    });
    const api = await connect(router);
    let thisTurn = 0;
    let most = 0;
    let asking = true;
    const countTurns = (): void => {
      most = Math.max(most, thisTurn);
      thisTurn = 0;
      if (asking) setImmediate(countTurns);
    };
    countTurns();
    let count = 0;
    const onRow = (): void => {
      thisTurn += 1;
      count += 1;
    };
    await api.command(PRINT, { timeoutMs: 20_000, onRow });
    asking = false;
    expect(count).toBe(50_000);
    // 128 KiB and the chunk that crosses that line (64 KiB) of rows of 74 bytes. Without slices: up to 28,000.
    expect(most).toBeLessThan(3000);
  });

  it('beyond the limits end the command, not the session', async () => {
    const router = await scripted(({ command, reply }) => {
      if (command === '/cancel') return;
      for (let n = 0; n < 100; n++) reply('!re', `=n=${n}`);
      reply('!done');
    });
    const api = await connect(router);
    expect(await failure(api.command(PRINT, { ...SOON, limits: { maxRows: 10 } }))).toMatchObject({ code: 'not_allowed' });
    expect(await failure(api.command(PRINT, { ...SOON, limits: { maxBytes: 1000 } }))).toMatchObject({ code: 'not_allowed' });
    expect((await api.command(PRINT, SOON)).rows).toHaveLength(100);
  });

  it('are limited in bytes, not characters', async () => {
    const router = await scripted(({ command, reply }) => {
      if (command === '/cancel') return;
      for (let n = 0; n < 10; n++) reply('!re', `=n=${'漢'.repeat(100)}`);
      reply('!done');
    });
    const api = await connect(router);
    expect(await failure(api.command(PRINT, { ...SOON, limits: { maxBytes: 2500 } }))).toMatchObject({ code: 'not_allowed' });
    expect((await api.command(PRINT, { ...SOON, limits: { maxBytes: 10_000 } })).rows).toHaveLength(10);
  });

  it('can be received row by row', async () => {
    const router = await scripted(({ reply }) => {
      for (let n = 0; n < 3; n++) reply('!re', `=n=${n}`);
      reply('!done');
    });
    const api = await connect(router);
    const seen: string[] = [];
    const reply = await api.command(PRINT, { ...SOON, onRow: (row) => seen.push(row['n'] ?? ''), limits: { maxRows: 1 } });
    expect(seen).toEqual(['0', '1', '2']);
    expect(reply.rows).toEqual([]);
  });

  it('survive a reader that throws', async () => {
    const router = await scripted(({ reply }) => {
      reply('!re', '=n=1');
      reply('!done');
    });
    const api = await connect(router);
    const onRow = (): void => {
      throw new TypeError('reader is broken');
    };
    expect(await failure(api.command(PRINT, { ...SOON, onRow }))).toMatchObject({ code: 'internal' });
    expect((await api.command(PRINT, SOON)).rows).toHaveLength(1);
  });
});

describe('a refusal', () => {
  it('carries the router’s message and category', async () => {
    const router = await scripted(({ reply }) => {
      reply('!trap', '=category=1', '=message=input does not match any value of interface');
      reply('!done');
    });
    const api = await connect(router);
    const error = await failure(api.command(PRINT, SOON));
    expect(error).toMatchObject({ code: 'rejected', category: 1, message: 'input does not match any value of interface' });
  });

  it('without a category has none', async () => {
    const router = await scripted(({ reply }) => {
      reply('!trap', '=message=not enough permissions (9)');
      reply('!done');
    });
    const error = await failure((await connect(router)).command(PRINT, SOON));
    expect(error).toMatchObject({ code: 'rejected', category: undefined });
  });

  it('in several traps keeps them all', async () => {
    const router = await scripted(({ reply }) => {
      reply('!trap', '=message=no such command or directory (routerboard)');
      reply('!trap', '=category=0', '=message=no such command prefix');
      reply('!done');
    });
    const error = await failure((await connect(router)).command(PRINT, SOON));
    expect(error).toBeInstanceOf(RouterTraps);
    expect(error).toMatchObject({ category: 0, message: 'no such command or directory (routerboard); no such command prefix' });
    expect((error as RouterTraps).traps).toHaveLength(2);
  });

  it('without !done counts at the deadline', async () => {
    const router = await scripted(({ command, reply }) => {
      if (command !== '/cancel') reply('!trap', '=message=failure: no');
    });
    const error = await failure((await connect(router)).command(PRINT, { timeoutMs: 100 }));
    expect(error).toMatchObject({ code: 'rejected', message: 'failure: no' });
  });
});

describe('a command without an answer', () => {
  it('ends at its deadline, is cancelled on the router, and its late reply is ignored', async () => {
    let late: Heard | undefined;
    const router = await scripted((heard) => {
      if (heard.command === '/slow') late = heard;
      if (heard.command !== '/quick') return;
      late?.reply('!re', '=too=late');
      late?.reply('!done');
      heard.reply('!done');
    });
    const api = await connect(router);
    expect(await failure(api.command({ path: '/slow', words: [] }, { timeoutMs: 50 }))).toMatchObject({
      code: 'outcome_unknown',
      message: 'no answer within 50 ms',
    });
    expect(await api.command({ path: '/quick', words: [] }, SOON)).toEqual({ rows: [] });
    expect(router.heard.find(({ command }) => command === '/cancel')?.words).toEqual([`=tag=${late?.tag}`]);
    expect(api.alive).toBe(true);
  });

  it('ends when its caller cancels', async () => {
    const caller = new AbortController();
    const router = await scripted(() => {
      caller.abort();
    });
    const api = await connect(router);
    expect(await failure(api.command(PRINT, { timeoutMs: 60_000, signal: caller.signal }))).toMatchObject({ code: 'outcome_unknown' });
    // A signal that has already fired sends nothing, nor does a deadline that has passed.
    expect(await failure(api.command(PRINT, { timeoutMs: 0 }))).toMatchObject({ code: 'router_unreachable' });
    expect(await failure(api.command(PRINT, { timeoutMs: 60_000, signal: caller.signal }))).toMatchObject({ code: 'router_unreachable' });
    expect(router.heard.filter(({ command }) => command === PRINT.path)).toHaveLength(1);
  });

  it.each([
    ['closed', (heard: Heard) => heard.socket.end(), 'the router closed the connection'],
    ['reset', (heard: Heard) => heard.socket.resetAndDestroy(), 'ECONNRESET'],
    ['ended with !fatal', (heard: Heard) => heard.socket.write(sentence('!fatal', 'session terminated on request')), 'session terminated'],
    ['garbled', (heard: Heard) => heard.socket.write(Buffer.from('ffffffff', 'hex')), 'not the RouterOS API'],
  ])('ends when the connection is %s, like all others in flight', async (_how, act, text) => {
    const router = await scripted((heard) => {
      if (heard.command === '/second') act(heard);
    });
    const api = await connect(router);
    const closed = new Promise<string>((resolve) => api.onClose(resolve));
    const errors = await Promise.all(['/first', '/second'].map((path) => failure(api.command({ path, words: [] }, SOON))));
    expect(errors.map(({ code }) => code)).toEqual(['outcome_unknown', 'outcome_unknown']);
    for (const { message } of errors) expect(message).toContain(text);
    expect(await closed).toContain(text);
    expect(api.alive).toBe(false);
    // What comes after is known not to have been sent.
    expect(await failure(api.command(PRINT, SOON))).toMatchObject({ code: 'router_unreachable' });
  });
});

describe('a command that never ends', () => {
  it('gives its rows until it is cancelled', async () => {
    const enough = new AbortController();
    const router = await scripted(({ command, reply }) => {
      if (command !== '/interface/listen') return;
      reply('!re', '=.id=*1', '=name=ether1');
      reply('!re', '=.id=*1', '=.dead=true');
    });
    const api = await connect(router);
    const rows: unknown[] = [];
    await api.listen(
      { path: '/interface/listen', words: [] },
      (row) => {
        rows.push(row);
        if (rows.length === 2) enough.abort();
      },
      enough.signal,
    );
    expect(rows).toEqual([
      { '.id': '*1', name: 'ether1' },
      { '.id': '*1', '.dead': 'true' },
    ]);
    await api.command(PRINT, { timeoutMs: 50 }).catch(() => undefined);
    expect(router.heard.map(({ command }) => command)).toContain('/cancel');
  });

  it('fails when the router refuses it or disconnects', async () => {
    const router = await scripted(({ command, reply, socket }) => {
      if (command === '/a/listen') {
        reply('!trap', '=message=no such command');
        reply('!done');
      } else socket.destroy();
    });
    const api = await connect(router);
    const never = new AbortController().signal;
    const listen = (path: string): Promise<AgentError> => failure(api.listen({ path, words: [] }, () => undefined, never));
    expect(await listen('/a/listen')).toMatchObject({ code: 'rejected' });
    expect(await listen('/b/listen')).toMatchObject({ code: 'outcome_unknown' });
  });
});

describe('what is sent', () => {
  it("is never printed, not even with the library's DEBUG setting", async () => {
    const router = await scripted(({ reply }) => reply('!done'));
    const session = new URL('../../../agent/routers/routeros-api/index.ts', import.meta.url).href;
    const options = { host: '127.0.0.1', port: router.port, username: 'admin', password: 'very-secret', deadline: SOON };
    const program = `const { connectRouterOsApi } = await import('${session}'); await (await connectRouterOsApi(${JSON.stringify(options)})).close();`;
    const { stdout, stderr } = await run(process.execPath, ['--input-type=module', '-e', program], {
      env: { ...process.env, DEBUG: '*' },
      timeout: 20_000,
    });
    expect(stderr).toContain('routeros-api');
    expect(stdout + stderr).not.toContain('very-secret');
  });

  it('is one write for one sentence', async () => {
    const router = await scripted(({ reply }) => reply('!done'));
    const api = await connect(router);
    const many = vi.spyOn(Socket.prototype, '_writev');
    const single = vi.spyOn(Socket.prototype, '_write');
    await api.command({ path: '/x/print', words: ['=a=1', '=b=2', '=c=3'] }, SOON);
    const ours = [...many.mock.contexts, ...single.mock.contexts].filter((socket) => (socket as Socket).remotePort === router.port);
    many.mockRestore();
    single.mockRestore();
    expect(ours).toHaveLength(1);
  });

  it('does not wait for the router’s acknowledgement of what was sent before', async () => {
    // Nagle's algorithm cannot be seen reliably on loopback, so what switches it off is watched instead.
    const noDelay = vi.spyOn(Socket.prototype, 'setNoDelay');
    const router = await scripted(() => undefined);
    await connect(router);
    const switchedOff = noDelay.mock.contexts.filter((socket) => (socket as Socket).remotePort === router.port);
    noDelay.mockRestore();
    expect(switchedOff).toHaveLength(1);
  });

  it("does not change the caller's words", async () => {
    const router = await scripted(({ reply }) => reply('!done'));
    const api = await connect(router);
    const words = ['=a=1'];
    await api.command({ path: '/x/print', words }, SOON);
    expect(words).toEqual(['=a=1']);
    await expect(api.command({ path: '/x/print', words: Object.freeze(['?a=1']) }, SOON)).resolves.toBeDefined();
  });

  it('is never more than one sentence', async () => {
    const router = await scripted(({ reply }) => reply('!done'));
    const api = await connect(router);
    for (const [path, words] of [
      ['/x/print', ['', '/system/reboot']],
      ['/x/print', ['/system/reboot']],
      ['/x/print', ['.tag=s1']],
      ['x/print', []],
      ['', []],
    ] as const) {
      expect(await failure(api.command({ path, words }, SOON))).toMatchObject({ code: 'invalid' });
    }
    expect(router.heard.map(({ command }) => command)).toEqual(['/login']);
  });

  it('knows .proplist with and without its sign', async () => {
    const router = await scripted(({ reply }) => reply('!done'));
    const api = await connect(router);
    await api.command({ path: '/x/print', words: ['.proplist=name', '=.proplist=name', '?#|'] }, SOON);
    expect(router.heard.at(-1)?.words).toEqual(['=.proplist=name', '=.proplist=name', '?#|']);
  });

  it('is nothing without a command', async () => {
    const router = await scripted(({ command, reply }) => {
      if (command === '/quick') reply('!done');
    });
    // The library would send `#` after half of its idle timeout while a command is in flight.
    const api = await connect(router, { deadline: { timeoutMs: 1000 } });
    const slow = failure(api.command({ path: '/slow', words: [] }, { timeoutMs: 1500 }));
    await slow;
    expect(router.heard.map(({ command }) => command).filter((command) => command !== '/cancel')).toEqual(['/login', '/slow']);
    expect(api.alive).toBe(true);
  });
});

describe('logging in', () => {
  it('sends name and password in UTF-8', async () => {
    const router = await scripted(() => undefined);
    await connect(router, { username: 'jürgen', password: 'Łódź€' });
    expect(router.heard[0]?.words).toEqual(['=name=jürgen', '=password=Łódź€']);
  });

  it('answers the challenge of an old router, hashing the bytes of the password', async () => {
    const challenge = '00112233445566778899aabbccddeeff';
    const router = await scripted(
      ({ words, reply }) => {
        if (words.some((word) => word.startsWith('=response='))) reply('!done');
        else reply('!done', `=ret=${challenge}`);
      },
      { loginAlways: false },
    );
    await connect(router, { password: 'Łódź€' });
    const expected = createHash('md5')
      .update(Buffer.concat([Buffer.of(0), Buffer.from('Łódź€', 'utf8'), Buffer.from(challenge, 'hex')]))
      .digest('hex');
    expect(router.heard[1]?.words).toEqual(['=name=admin', `=response=00${expected}`]);
  });

  it.each([
    [
      'a refusal',
      ({ reply }: Heard) => (reply('!trap', '=message=invalid user name or password (6)'), reply('!done')),
      'login refused: invalid user',
    ],
    ['!fatal', ({ socket }: Heard) => socket.end(sentence('!fatal', 'too many commands before login')), 'too many commands before login'],
    ['a closed connection', ({ socket }: Heard) => socket.end(), 'the router closed the connection'],
    ['silence', () => undefined, 'the router did not answer the login: no answer within'],
  ])('fails on %s', async (_what, answer, text) => {
    const router = await scripted(answer, { loginAlways: false });
    const error = await failure(connect(router, { deadline: { timeoutMs: 300 } }));
    expect(error.code).toBe('router_unreachable');
    expect(error.message).toContain(text);
    expect(error.message).not.toContain('secret');
  });

  it('fails with a reason when the port is closed', async () => {
    const router = await startScriptedRouter(() => undefined);
    await router.close();
    const error = await failure(connect(router));
    expect(error.code).toBe('router_unreachable');
    expect(error.message).toMatch(/^127\.0\.0\.1:\d+: connection refused.*ECONNREFUSED/);
  });

  it('fails when its caller cancels', async () => {
    const caller = new AbortController();
    const router = await scripted(() => caller.abort(), { loginAlways: false });
    expect(await failure(connect(router, { deadline: { timeoutMs: 60_000, signal: caller.signal } }))).toMatchObject({
      code: 'router_unreachable',
    });
  });
});

describe('closing', () => {
  it('settles even if the peer never answers', async () => {
    let peer: Socket | undefined;
    const held = createServer({ allowHalfOpen: true }, (socket) => {
      peer = socket;
      socket.on('error', () => undefined);
      socket.once('data', () => socket.write(sentence('!done', '.tag=s1')));
    });
    await new Promise<void>((resolve) => held.listen(0, '127.0.0.1', resolve));
    const address = held.address();
    const api = await connect({ port: typeof address === 'object' && address ? address.port : 0 });
    const pending = failure(api.command(PRINT, { timeoutMs: 60_000 }));
    await api.close();
    expect(await pending).toMatchObject({ code: 'outcome_unknown' });
    await api.close();
    expect(await failure(api.command(PRINT, SOON))).toMatchObject({ code: 'router_unreachable' });
    peer?.destroy();
    await new Promise((resolve) => held.close(resolve));
  });
});
