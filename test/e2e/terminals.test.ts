import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { onceTold } from '../harness/cluster/once-told.ts';
import { TerminalClient } from '../harness/terminal-client.ts';
import { hasSession, Terminals } from '../harness/terminal-world.ts';
import type { ShownTerminal } from '../harness/terminal-world.ts';
import { waitUntil } from '../harness/wait-until.ts';
import { World } from '../harness/world.ts';

let world: World;
let terminals: Terminals;
let routerId: string;
beforeAll(async () => {
  world = await World.start({ terminal: 'full', routers: [{ version: '7.18.2' }] });
  terminals = new Terminals(world);
  [routerId = ''] = await world.routerIds();
});
afterAll(() => world.close());

describe('a terminal on a simulated router', () => {
  test('shows a prompt, echoes keys, runs commands and ends with quit', async () => {
    const opened = await terminals.open(routerId);
    const client = await terminals.attach(opened);
    await client.sees('[term-read@router-0] >');
    client.type(':put "two and two"\r');
    await client.sees(/\r\ntwo and two\r\n/);
    client.type('quit\r');
    expect(await client.ending()).toMatchObject({ ended: true, reason: 'exited' });
    await waitUntil('the record says so', async () => (await terminals.read(opened.id)).status === 'ended');
    expect(await terminals.read(opened.id)).toMatchObject({ end_reason: 'exited', recording: 'kept' });
    expect(client.closed?.code ?? 1000).toBe(1000);
  });

  test('Ctrl-C ends a command that would run for ever', async () => {
    const opened = await terminals.open(routerId, 'full');
    const client = await terminals.attach(opened);
    await client.sees('[term-full@router-0] >');
    client.type(':while (true) do={:put "on and on"; :delay 10ms}\r');
    await client.sees(/on and on\r\non and on/);
    client.type('\u0003');
    client.type(':put "still here"\r');
    await client.sees(/\r\nstill here\r\n/);
    await terminals.end(opened.id);
  });

  test('the router learns the size of the window, at the opening and later', async () => {
    const opened = await terminals.open(routerId);
    const client = await terminals.attach(opened);
    await client.sees('>');
    client.resize(40, 10);
    client.type('/system \t');
    // Narrow: the list of what may follow has many short lines.
    await client.sees('identity');
    const narrow = client.plain;
    client.resize(200, 50);
    client.type('\t');
    await waitUntil('the list comes again', async () => client.plain.length > narrow.length + 100);
    const lengthOf = (text: string): number => Math.max(...text.split('\r\n').map((line) => line.length));
    expect(lengthOf(narrow.slice(narrow.indexOf('/system')))).toBeLessThanOrEqual(60);
    expect(lengthOf(client.plain.slice(narrow.length))).toBeGreaterThan(100);
    await terminals.end(opened.id);
    expect(await terminals.recordingOf(opened.id)).toContain('"r","200x50"');
  });

  test('a page that is reloaded sees what was there and goes on', async () => {
    const opened = await terminals.open(routerId);
    const first = await terminals.attach(opened);
    await first.sees('>');
    first.type(':put "before the reload"\r');
    await first.sees(/\r\nbefore the reload\r\n/);
    await first.close();
    const second = await terminals.attach(await terminals.ticketOf(opened.id));
    await second.sees('before the reload');
    expect(second.messages[0]).toMatchObject({ replay: { bytes: expect.any(Number) } });
    second.type(':put "after it"\r');
    await second.sees(/\r\nafter it\r\n/);
    await terminals.end(opened.id);
  });

  test('a second page takes the terminal over', async () => {
    const opened = await terminals.open(routerId);
    const first = await terminals.attach(opened);
    await first.sees('>');
    const second = await terminals.attach(await terminals.ticketOf(opened.id));
    await second.sees('>');
    await waitUntil('the first is sent away', async () => first.closed);
    expect(first.closed?.code).toBe(4409);
    await terminals.end(opened.id);
  });

  test('a ticket works once', async () => {
    const opened = await terminals.open(routerId);
    const client = await terminals.attach(opened);
    const again = await TerminalClient.attach(world.server.url, opened);
    expect(again.refused).toBe(401);
    const wrong = await TerminalClient.attach(world.server.url, { ...opened, ticket: 'x'.repeat(48) });
    expect(wrong.refused).toBe(401);
    // Neither disturbs the one that is attached.
    await client.sees('>');
    await terminals.end(opened.id);
    const late = await TerminalClient.attach(world.server.url, opened);
    expect(late.refused).toBe(401);
  });

  test('an administrator ends it, and the router has no session of it', async () => {
    const opened = await terminals.open(routerId);
    const client = await terminals.attach(opened);
    await client.sees('>');
    await terminals.end(opened.id);
    expect(await client.ending()).toMatchObject({ reason: 'closed' });
    await waitUntil('the router has no session of it', async () => !hasSession(world, 'term-read'));
  });

  test('one for each key and router: the second attempt names the first', async () => {
    const opened = await terminals.open(routerId);
    const second = await world.caller.call('POST', `/api/routers/${routerId}/terminals`, { level: 'full', reason: 'once more' });
    expect(second).toMatchObject({ status: 409, body: { code: 'conflict', terminal_id: opened.id } });
    await terminals.end(opened.id);
    await terminals.end((await terminals.open(routerId)).id);
  });

  test('a control plane that restarts loses neither the shell nor any output', async () => {
    const opened = await terminals.open(routerId, 'full');
    const client = await terminals.attach(opened);
    await client.sees('>');
    client.type(':for i from=1 to=400 do={:put "line $i"; :delay 5ms}\r');
    await client.sees(/\r\nline 20\r\n/);
    await world.restartServer();
    expect((await waitUntil('the client is told', async () => client.closed)).code).toBe(1001);
    const back = await waitUntil('the terminal gives a ticket', async () => {
      const { status, body } = await world.caller.call<{ data: ShownTerminal }>('POST', `/api/terminals/${opened.id}/tickets`);
      return status === 200 && !body.data.away ? body.data : undefined;
    });
    const second = await terminals.attach(back);
    await second.sees(/\r\nline 400\r\n/);
    // What the agent sends once more is announced as such: a screen that shows it already begins anew.
    const announced = second.messages.flatMap(({ replay }) => (replay === undefined ? [] : [(replay as { bytes: number }).bytes]));
    expect(Math.max(...announced)).toBeGreaterThan(100);
    second.type(':put "and on"\r');
    await second.sees(/\r\nand on\r\n/);
    await terminals.end(opened.id);
    const recording = (await terminals.recordingOf(opened.id))
      .split('\n')
      .slice(1)
      .filter(Boolean)
      .map((line) => (JSON.parse(line) as [number, string, string])[2]);
    const lines = [...recording.join('').matchAll(/line (\d+)\r\n/g)].map(([, number]) => Number(number));
    expect(lines).toEqual(Array.from({ length: 400 }, (_, i) => i + 1));
  });

  test('a client that does not read holds back the router; nothing is buffered without bound', async () => {
    const opened = await terminals.open(routerId, 'full');
    const client = await terminals.attach(opened);
    await client.sees('>');
    client.ws.pause();
    const before = world.server.services.terminals;
    client.type(':local s "0123456789012345678901234567890123456789"; :for i from=1 to=100000 do={:put ($s . $s . $s . $s . $s)}\r');
    let last = -1;
    const stalled = await waitUntil('the output stands still', async () => {
      const { output_bytes: now } = await terminals.read(opened.id);
      const isStill = now === last && now > 0;
      last = now;
      await new Promise((resolve) => setTimeout(resolve, 1500));
      return isStill ? now : undefined;
    });
    expect(before.openByTeam().get(world.caller.teamId)).toBe(1);
    // The kernel's buffers, ours, and the window of SSH.
    expect(stalled).toBeLessThan(16 * 1024 * 1024);
    client.ws.resume();
    await waitUntil('it goes on', async () => (await terminals.read(opened.id)).output_bytes > stalled);
    await terminals.end(opened.id);
  });

  test('everything printed is recorded, with the lines that were typed only as the router echoes them', async () => {
    const opened = await terminals.open(routerId);
    const client = await terminals.attach(opened);
    await client.sees('>');
    client.type(':put "grüße"\r');
    await client.sees(/\r\ngrüße\r\n/);
    await terminals.end(opened.id);
    const [header = '', ...events] = (await terminals.recordingOf(opened.id)).trim().split('\n');
    expect(JSON.parse(header)).toMatchObject({ version: 2, width: 80, height: 24, timestamp: expect.any(Number) });
    const outputs = events.map((line) => JSON.parse(line) as [number, string, string]);
    expect(outputs.every(([at, kind]) => at >= 0 && (kind === 'o' || kind === 'r'))).toBe(true);
    expect(outputs.map(([, , text]) => text).join('')).toBe(client.screen);
    await onceTold(async () => {
      const { body } = await world.caller.call<{ data: { action: string; target: string; detail: string | null }[] }>(
        'GET',
        '/api/audit?limit=50',
      );
      const actions = body.data.filter(({ target }) => target?.includes(opened.id)).map(({ action }) => action);
      expect(actions).toEqual(expect.arrayContaining(['terminal attached', 'terminal ended', 'GET /api/terminals/:terminal_id/recording']));
      expect(body.data.some(({ detail }) => detail?.includes(opened.id) && detail.includes('a test looks at it'))).toBe(true);
    });
  });
});

describe('who may', () => {
  async function keyOf(role: 'viewer' | 'operator' | 'admin'): Promise<{ id: string; call: World['caller']['call'] }> {
    const { body } = await world.caller.call<{ data: { id: string; api_key: string } }>('POST', '/api/api-keys', { name: role, role });
    const { id, api_key: key } = body.data;
    return {
      id,
      call: (method, path, content, headers = {}) =>
        world.caller.call(method, path, content, { ...headers, authorization: `Bearer ${key}` }),
    };
  }

  test.each([
    ['viewer', 'read', 403],
    ['viewer', 'full', 403],
    ['operator', 'read', 200],
    ['operator', 'full', 403],
    ['admin', 'full', 200],
  ] as const)('the role %s opens the level %s: %i', async (role, level, expected) => {
    const key = await keyOf(role);
    const { status, body } = await key.call<{ data: ShownTerminal }>('POST', `/api/routers/${routerId}/terminals`, {
      level,
      reason: 'a try',
    });
    expect(status).toBe(expected);
    if (status === 200) await terminals.end(body.data.id);
  });

  test('a reason is needed', async () => {
    const { status, body } = await world.caller.call('POST', `/api/routers/${routerId}/terminals`, { level: 'read', reason: ' ' });
    expect(status).toBe(422);
    expect(body).toMatchObject({ errors: { reason: expect.anything() } });
  });

  test('another operator neither attaches to it, nor ends it, nor reads its recording; the other team does not see it', async () => {
    const opened = await terminals.open(routerId);
    const colleague = await keyOf('operator');
    expect((await colleague.call('POST', `/api/terminals/${opened.id}/tickets`)).status).toBe(403);
    expect((await colleague.call('DELETE', `/api/terminals/${opened.id}`)).status).toBe(403);
    expect((await colleague.call('GET', `/api/terminals/${opened.id}/recording`)).status).toBe(403);
    expect((await colleague.call('GET', `/api/terminals/${opened.id}`)).status).toBe(200);
    const other = await world.addTeam('Other');
    for (const [method, path] of [
      ['GET', `/api/terminals/${opened.id}`],
      ['DELETE', `/api/terminals/${opened.id}`],
      ['GET', `/api/terminals/${opened.id}/recording`],
      ['POST', `/api/terminals/${opened.id}/tickets`],
    ] as const)
      expect((await other.call(method, path)).status, `${method} ${path}`).toBe(404);
    expect((await terminals.read(opened.id)).status).toBe('open');
    await terminals.end(opened.id);
  });

  test('a key that is revoked loses its terminal, before the revocation is answered', async () => {
    const key = await keyOf('operator');
    const { body } = await key.call<{ data: ShownTerminal }>('POST', `/api/routers/${routerId}/terminals`, {
      level: 'read',
      reason: 'a try',
    });
    const client = await terminals.attach(body.data);
    await client.sees('>');
    expect((await world.caller.call('DELETE', `/api/api-keys/${key.id}`)).status).toBe(204);
    expect(await terminals.read(body.data.id)).toMatchObject({ status: 'ended', end_reason: 'rights_lost' });
    expect(await client.ending()).toMatchObject({ reason: 'rights_lost' });
  });
});
