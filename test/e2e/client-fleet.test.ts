import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { onceTold } from '../harness/cluster/once-told.ts';
import { runSignalbox } from '../harness/run-cli.ts';
import type { Ran } from '../harness/run-cli.ts';
import { waitUntil } from '../harness/wait-until.ts';
import { World } from '../harness/world.ts';

/** Commands that show the whole fleet. Two routers stand in Berlin; the third refuses connections. */

let world: World;
let ids: string[];
beforeAll(async () => {
  world = await World.start({ routers: [{ version: '7.18.2' }, { version: '6.49.18' }, { version: '7.18.2' }] });
  ids = await world.routerIds();
  const { body } = await world.caller.call<{ data: { id: string } }>('POST', '/api/sites', { name: 'Berlin', time_zone: 'Europe/Berlin' });
  for (const id of ids.slice(0, 2)) await world.caller.call('PATCH', `/api/routers/${id}`, { site_id: body.data.id });
  world.simulators[2]!.faults.refuseConnections = true;
  world.simulators[2]!.faults.resetConnections();
  await waitUntil('the third router does not answer', async () => (await run('routers', '--state', 'down')).stdout.includes(ids[2]!));
});
afterAll(async () => world.close());

const run = (...words: string[]): Promise<Ran> => runSignalbox(words, { server: world.server.url, key: world.caller.apiKey });

async function json<T>(...words: string[]): Promise<T> {
  const { code, stdout, stderr } = await run(...words, '--json');
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
  return JSON.parse(stdout) as T;
}

interface Listed {
  id: string;
  identity: string;
  state: string;
}

const names = async (...words: string[]): Promise<string[]> =>
  (await json<Listed[]>('routers', ...words)).map(({ identity }) => identity).toSorted();

describe('routers', () => {
  test.each([
    [
      ['--state', 'up'],
      ['router-0', 'router-1'],
    ],
    [['--state', '!answering'], ['router-2']],
    [['--state', 'not-answering,away'], ['router-2']],
    [['--state', 'unseen'], []],
    [
      ['--site', 'Berlin'],
      ['router-0', 'router-1'],
    ],
    [['--site', '!Berlin'], ['router-2']],
    [['--site', 'none'], ['router-2']],
    [['--agent', 'test', '--version', '<7'], ['router-1']],
    [
      ['--version', '>=7.10,<7.20'],
      ['router-0', 'router-2'],
    ],
    [['--q', 'ROUTER-1'], ['router-1']],
    [['--model', 'no such model'], []],
  ])('%j', async (words, expected) => {
    expect(await names(...words)).toEqual(expected);
  });

  test('are sorted by a short word, in both directions', async () => {
    const order = async (sort: string): Promise<string[]> =>
      (await json<Listed[]>('routers', '--sort', sort)).map(({ identity }) => identity);
    expect(await order('name')).toEqual(['router-0', 'router-1', 'router-2']);
    expect(await order('-name')).toEqual(['router-2', 'router-1', 'router-0']);
    // It was the last to change.
    expect((await order('since')).at(-1)).toBe('router-2');
    expect((await order('-since'))[0]).toBe('router-2');
  });

  test('have the fields that were asked for, as text and as JSON', async () => {
    expect((await run('routers', '--fields', 'identity,software_version', '--sort', 'name')).stdout).toBe(
      'IDENTITY  SOFTWARE VERSION\nrouter-0  7.18.2\nrouter-1  6.49.18\nrouter-2  7.18.2\n',
    );
    expect(await json('routers', '--fields', 'identity', '--q', 'router-1')).toEqual([{ identity: 'router-1' }]);
  });

  test('with a limit say how many there are', async () => {
    expect((await run('routers', '--limit', '2', '--fields', 'identity')).stdout).toMatch(
      /^IDENTITY\nrouter-\d\nrouter-\d\n\n2 of 3 routers\n$/,
    );
    expect((await run('routers', '--limit', '3', '--fields', 'identity')).stdout).not.toContain(' of ');
  });

  test.each([
    [['--state', 'asleep'], 2, 'there is no state "asleep"; states are answering (up)'],
    [['--sort', 'colour'], 2, 'there is no order "colour"'],
    [['--site', 'Paris'], 2, 'no site is called Paris'],
    [['--fields', 'colour'], 1, 'fields'],
    [['--version', 'new'], 1, 'version'],
  ])('%j is refused', async (words, code, message) => {
    expect(await run('routers', ...words)).toMatchObject({ code, stderr: expect.stringContaining(message) as string });
  });

  test('none is not the same as none at all', async () => {
    expect((await run('routers', '--state', 'unseen')).stdout).toBe('no such routers\n');
  });
});

describe('status', () => {
  test('counts the fleet and says what is away, since when and why', async () => {
    const { code, stdout } = await run('status');
    expect(code).toBe(0);
    expect(stdout).toMatch(/^Routers +3 {2}answering 2, not_answering 1$/m);
    expect(stdout).toMatch(/^Agents +1 {2}connected 1$/m);
    expect(stdout).toMatch(/^ {2}router-2 +not_answering +\d\d:\d\d:\d\d +\d+ \w+ +(?:refused|closed) +test$/m);
  });

  test('names open forwards and faults by their router', async () => {
    const { body } = await world.caller.call<{ id: string }>('POST', `/api/routers/${ids[0]}/transient-forwarding`, {
      expire_after_minutes: 10,
      dst_address: '127.0.0.1',
      dst_port: 9,
      allow_from: '127.0.0.1/32',
    });
    const { stdout } = await run('status');
    expect(stdout).toMatch(/^Open forwards +1$/m);
    expect(stdout).toMatch(/^ {2}router-0 +\S+:\d+ +127\.0\.0\.1:9 .*(?:9 min|10 min)$/m);
    await world.caller.call('DELETE', `/api/routers/${ids[0]}/transient-forwarding/${body.id}`);
  });
});

describe('history', () => {
  interface Item {
    kind: string;
    status: string;
  }

  test('has states, sessions and what people did, newest first', async () => {
    await waitUntil('the states are stored', async () =>
      (await json<Item[]>('history', 'router-2')).some(({ status }) => status === 'answering'),
    );
    const { stdout } = await run('history', 'router-2');
    expect(stdout).toMatch(/^TIME +FOR +KIND +STATUS +WHAT +BY\n/);
    expect(stdout).toMatch(/^\S+Z +- +state +not_answering +\S+/m);
    expect(stdout).toMatch(/^\S+Z +\d+ \w+ +state +answering +/m);
    expect(stdout).toMatch(/^\S+Z +- +session +open +/m);
    const times = [...stdout.matchAll(/^(\S+Z) /gm)].map(([, time]) => time!);
    expect(times).toEqual(times.toSorted().toReversed());
  });

  test('of some kinds and of some time', async () => {
    const kinds = new Set((await json<Item[]>('history', ids[2]!, '--kind', 'state,fault')).map(({ kind }) => kind));
    expect([...kinds].filter((kind) => kind !== 'state' && kind !== 'fault')).toEqual([]);
    expect(await json('history', 'router-0', '--to', '2031-05-01T00:00:00Z', '--from', '2031-04-01T00:00:00Z')).toEqual([]);
    expect((await run('history', 'router-2', '--limit', '1')).stdout).toMatch(/\nthe latest 1 items; --limit or --to shows older ones\n$/);
  });

  test.each([
    [['history', 'nobody'], '404'],
    [['history', 'router-0', '--kind', 'weather'], 'kind'],
    [['history', 'router-0', '--from', 'yesterday'], 'from'],
  ])('%j is refused', async (words, message) => {
    expect(await run(...words)).toMatchObject({ code: 1, stderr: expect.stringContaining(message) as string });
  });
});

describe('sessions', () => {
  interface Session {
    ended_by: string | null;
    epoch: number;
  }

  test('of an agent, by its name and by its id', async () => {
    const [open] = await json<Session[]>('sessions', 'test');
    expect(open).toMatchObject({ ended_by: null, epoch: 1 });
    const { stdout } = await run('sessions', 'test');
    expect(stdout).toMatch(
      /^OPENED +LASTED +ENDED BY +FROM +ROUND TRIP +LOST +IN +OUT +VERSION +EPOCH\n\S+Z +\d+ \w+ +\(open\) +127\.0\.0\.1 /,
    );
    const [agent] = await json<{ id: string }[]>('agents');
    expect(await json<Session[]>('sessions', agent!.id, '--limit', '1')).toMatchObject([{ epoch: 1 }]);
  });

  test('of an unknown agent are refused', async () => {
    expect(await run('sessions', 'nobody')).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('no agent is called nobody') as string,
    });
    expect(await run('sessions', '01890000-0000-7000-8000-000000000000')).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('404') as string,
    });
  });
});

test('when the agent leaves, status names it as what its routers have in common, and sessions say how it ended', async () => {
  await world.agent!.close();
  world.agent = undefined;
  await waitUntil('the routers are away', async () => (await names('--state', 'away')).length === 3);
  const { stdout } = await run('status');
  expect(stdout).toMatch(/^ {2}3 of 3 routers of agent test, the first since \d\d:\d\d:\d\d, \d+ \w+ ago$/m);
  expect(stdout).toMatch(/^ {2}router-0 +agent_away .* agent stopped +test$/m);
  await onceTold(async () => expect((await run('sessions', 'test')).stdout).toMatch(/^\S+Z +\d+ \w+ +agent stopped +127/m));
});
