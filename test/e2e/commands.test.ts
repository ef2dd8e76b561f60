import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { waitUntil } from '../harness/wait-until.ts';
import { World } from '../harness/world.ts';
import { Stopwatch } from '../harness/stopwatch.ts';

interface Rows {
  status: string;
  data: Record<string, string>[];
}

describe.each([
  { name: 'RouterOS 7', router: { version: '7.18.2' } },
  { name: 'RouterOS 6', router: { version: '6.49.18' } },
  { name: 'RouterOS 7 whose replies arrive byte by byte', router: { version: '7.18.2', splitEveryByte: true } },
])('commands on $name', ({ router }) => {
  let world: World;
  let id: string;
  beforeAll(async () => {
    world = await World.start({ routers: [router] });
    [id] = (await world.routerIds()) as [string];
  });
  afterAll(async () => world.close());

  const run = (command: string, parameters = '') => world.caller.call<Rows>('POST', `/api/synchronous/${id}`, { command, parameters });

  test('a print answers rows with snake_case names', async () => {
    const { status, body } = await run('/ip/address/print');
    expect(status).toBe(200);
    expect(body.status).toBe('success');
    expect(body.data.length).toBeGreaterThan(0);
    expect(body.data[0]).toMatchObject({ id: expect.stringMatching(/^\*/), address: expect.any(String), interface: expect.any(String) });
  });

  test.each([
    ['console style', 'address=10.77.1.1/24 interface=ether2 comment="by hand"', '10.77.1.1/24'],
    ['API words', '=address=10.77.2.1/24\n=interface=ether2', '10.77.2.1/24'],
    ['a JSON array of API words', '["=address=10.77.3.1/24","=interface=ether2"]', '10.77.3.1/24'],
  ])('an address added with %s appears in the next print', async (_name, parameters, address) => {
    const added = await run('/ip address add', parameters);
    expect(added.body.data).toEqual([{ ret: expect.stringMatching(/^\*/) }]);
    const printed = await run('ip address print', `?address=${address}`);
    expect(printed.body.data).toEqual([expect.objectContaining({ id: added.body.data[0]!['ret'], address })]);
  });

  test('an export answers the lines of everything or of one menu', async () => {
    const lines = ({ body }: { body: Rows }) => body.data.map(({ line }) => line);
    const everything = await run('/export');
    expect(everything.status).toBe(200);
    expect(lines(everything)[0]).toMatch(/^# .* by RouterOS /);
    expect(lines(everything)).toContain('/ip address');
    const menu = await run('/ip address export', 'terse');
    expect(lines(menu)).toContainEqual(expect.stringMatching(/^\/ip address add /));
    expect((await run('/export', 'nonsense')).body).toMatchObject({ message: expect.stringContaining('export has no flag') });
    expect((await run('/no/such/export')).status).toBe(422);
  });

  test('the audit log names the command, but none of its values', async () => {
    await run('ip address set', '.id=*99 comment=confidential');
    const entry = async () => {
      const { body } = await world.caller.call<{ data: { action: string; detail: string | null }[] }>('GET', '/api/audit?limit=20');
      return body.data.find(({ detail }) => detail === '/ip/address/set');
    };
    expect(JSON.stringify(await waitUntil('the audit log has the command', entry))).not.toContain('confidential');
  });

  test('an empty reply is an empty list', async () => {
    expect((await run('/ip/address/print', '?address=192.0.2.1/32')).body).toEqual({ status: 'success', data: [] });
  });

  test('a refusal of the router is 422 with its own message', async () => {
    const { status, body } = await run('/ip/nonsense/print');
    expect(status).toBe(422);
    expect(body).toMatchObject({ code: 'rejected_by_router', message: expect.stringMatching(/no such command/) });
    const twice = '=address=10.77.1.1/24\n=interface=ether2';
    await run('/ip/address/add', twice);
    expect((await run('/ip/address/add', twice)).body).toMatchObject({ message: 'failure: already have such address' });
  });

  test('an invalid request never reaches the router', async () => {
    for (const [command, parameters] of [
      ['/quit', ''],
      ['/ip/address/listen', ''],
      ['/ip/address/print', 'a="'],
    ] as const) {
      expect((await run(command, parameters)).status).toBe(422);
    }
    expect((await run('/ip/address/print')).status).toBe(200);
  });

  test('fifty commands at once each get their own answer', async () => {
    const answers = await Promise.all(
      Array.from({ length: 50 }, (_, i) => run('/ip/address/print', i % 2 === 0 ? '' : '?address=192.0.2.1/32')),
    );
    answers.forEach((answer, i) => expect(answer.body.data.length > 0).toBe(i % 2 === 0));
  });
});

describe('when router or agent do not answer', () => {
  let world: World;
  let id: string;
  beforeAll(async () => {
    world = await World.start();
    [id] = (await world.routerIds()) as [string];
  });
  afterAll(async () => world.close());

  const run = (extra: object = {}) =>
    world.caller.call('POST', `/api/synchronous/${id}`, { command: '/system/identity/print', parameters: '', ...extra });
  const hasPulse = async () => {
    const { body } = await world.caller.call<{ data: { has_pulse: boolean }[] }>('GET', '/api/routers');
    return body.data[0]!.has_pulse;
  };

  test('a router that never answers is 504 within the timeout, with an unknown outcome', async () => {
    world.simulators[0]!.faults.silent = true;
    const stopwatch = new Stopwatch();
    const { status, body } = await run({ timeout_seconds: 1 });
    expect(status).toBe(504);
    expect(body).toMatchObject({
      code: 'outcome_unknown',
      message: expect.stringMatching(/ in time: the outcome is unknown$|^no answer within .* outcome is unknown$/),
    });
    expect(stopwatch.ms).toBeLessThan(2500);
    world.simulators[0]!.faults.silent = false;
  });

  test('a router that its agent cannot reach is 503 at once and has no pulse', async () => {
    world.simulators[0]!.faults.refuseConnections = true;
    world.simulators[0]!.faults.resetConnections();
    await waitUntil('the pulse is gone', async () => !(await hasPulse()));
    const stopwatch = new Stopwatch();
    const { status, body } = await run();
    expect(status).toBe(503);
    expect(body).toMatchObject({ code: 'router_unreachable' });
    expect(stopwatch.ms).toBeLessThan(1500);
    world.simulators[0]!.faults.refuseConnections = false;
    await waitUntil('the pulse is back', hasPulse);
    expect((await run()).status).toBe(200);
  });

  test('a disconnected agent is 503 at once, and the pulse ends in time', async () => {
    await world.agent!.close();
    world.agent = undefined;
    const { status, body } = await run();
    expect(status).toBe(503);
    expect(body).toMatchObject({ code: 'agent_offline' });
    await waitUntil('the pulse is gone', async () => !(await hasPulse()), 5000);
  });
});
