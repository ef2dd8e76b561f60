import { describe, expect, test } from 'vitest';
import { parseConfig } from '../../agent/config.ts';
import { decodeAgentMessage } from '../../protocol/index.ts';
import { enrolRequest } from '../../protocol/enrolment.ts';
import { settle, TunnelBench } from '../harness/tunnel-bench.ts';

/** Names that an agent chooses stand in lists, logs and messages to people, and are addresses: they are refused, not cleaned. */

const NAMES = [
  'two\nlines',
  'red \u001b[31m',
  'bell\u0007',
  'NUL\0',
  'eno\u202Eowt',
  'half a pair \ud800',
  '\u009b2J',
  'x'.repeat(65),
  'x'.repeat(900_000),
  '',
];

const facts = {
  hardware_id: 'S1',
  serial_number: 'S1',
  software_id: null,
  identity: 'a',
  software_version: '7',
  model: null,
  board_name: 'CHR',
  hardware_board: false,
  architecture: null,
  time_zone: null,
  uptime: '1d',
  uptime_seconds: 1,
};
const beat = (name: string) => ({ name, reachable: true, uptime_seconds: 1, reason: null });
const decode = (message: object) => decodeAgentMessage(JSON.stringify(message));

describe.each(NAMES.map((name) => [JSON.stringify(name).slice(0, 40), name]))('a router called %s', (_shown, name) => {
  test('is not registered under that name', () => {
    expect(decode({ type: 'inventory', router: name, facts }).kind).toBe('invalid');
    const devices = { type: 'devices', router: name, kind: 'full', first: true, last: true, devices: [], gone: [] };
    expect(decode(devices).kind).toBe('invalid');
  });

  test('does not disturb the heartbeat of other routers or the tunnel', async () => {
    const decoded = decode({ type: 'heartbeat', routers: [beat('one'), beat(name), beat('two')] });
    expect(decoded.kind === 'message' && decoded.message.type === 'heartbeat' && decoded.message.routers.map((each) => each.name)).toEqual([
      'one',
      'two',
    ]);
    const bench = new TunnelBench();
    const socket = bench.connect();
    socket.say(bench.hello({ routers: ['one', name] }));
    await settle();
    bench.sayReady(socket);
    await settle();
    expect(socket.closed).toBeUndefined();
    expect(bench.registry.epoch(bench.agentId)).toBeDefined();
  });

  test("is refused in an agent's configuration", () => {
    const router = { name, host: '192.0.2.1', ssh: { username: 'a', password: 'b' } };
    expect(() => parseConfig({ server: 'https://c.example', credentials: 'c', state: 's', routers: [router] }, '/')).toThrow(
      /routers\[0\]\.name/,
    );
  });
});

test.each(NAMES.filter((name) => name.length !== 65))('no agent can enrol as %j', (name) => {
  expect(enrolRequest.safeParse({ token: 't', name }).success).toBe(false);
  expect(enrolRequest.safeParse({ token: 't', name: 'Zürich 北京 🏔' }).success).toBe(true);
});

test('the version of an agent is stored as one line of text', () => {
  const decoded = decode({
    type: 'hello',
    versions: [1],
    agent_version: '1.0\n\u001b[31m\0',
    journal_id: '0b7e3ac5-7a6c-4d5e-9f59-0a7ad4a3a4c1',
    last_epoch: 0,
    routers: [],
  });
  expect(decoded).toMatchObject({ message: { agent_version: '1.0[31m' } });
});
