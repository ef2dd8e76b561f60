import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { startAgent } from '../../agent/app.ts';
import type { RunningAgent } from '../../agent/app.ts';
import { parseConfig } from '../../agent/config.ts';
import { waitUntil } from '../harness/wait-until.ts';
import { World } from '../harness/world.ts';
import { sentence, startScriptedRouter } from '../unit/agent-routeros/scripted-router.ts';
import type { Heard, ScriptedRouter } from '../unit/agent-routeros/scripted-router.ts';

/**
 * A router whose answers keep to the RouterOS API and not to the tunnel. The agent in front of it is honest, and has another
 * router: what the first one says must cost neither the tunnel nor anything of the agent's budget.
 */

const MENUS: Record<string, string[]> = {
  '/system/resource/print': ['=uptime=1d', '=version=7.18.2 (stable)', '=board-name=hEX', '=architecture-name=mmips'],
  '/system/identity/print': ['=name=hostile'],
  '/system/routerboard/print': ['=routerboard=true', '=serial-number=HOSTILE', '=model=RB750Gr3'],
};

const names = (count: number, length = 0): string[] => Array.from({ length: count }, (_, index) => `=${`n${index}`.padEnd(length, 'x')}=`);

let world: World;
let hostile: ScriptedRouter;
let agent: RunningAgent;
let hostileId: string;
let neighbourId: string;
let agentId: string;
/** What the hostile router says to the command of a test. */
let attack: (heard: Heard) => void;
/** What it says to those who read who it is, when a test wants something else than its menus. */
let inventory: ((heard: Heard) => void) | undefined;
const logged: string[] = [];
const record = (fields: object, message: string): void => void logged.push(JSON.stringify({ ...fields, message }));
const log = { debug: () => undefined, info: record, warn: record, error: record };

beforeAll(async () => {
  hostile = await startScriptedRouter((heard) => {
    const menu = MENUS[heard.command];
    if (heard.command === '/attack/print') return attack(heard);
    if (inventory) return inventory(heard);
    if (menu) heard.reply('!re', ...menu);
    heard.reply('!done');
    return undefined;
  });
  world = await World.start();
  [neighbourId] = (await world.routerIds()) as [string];
  await world.agent!.close();
  world.agent = undefined;
  const router = (name: string, port: number) => ({
    name,
    host: '127.0.0.1',
    api: { port, username: 'signalbox', password: 'router-password' },
  });
  const config = parseConfig(
    {
      server: world.server.url,
      credentials: 'credentials.json',
      state: 'agent-state',
      routers: [router('router-0', world.simulators[0]!.apiPort), router('hostile', hostile.port)],
    },
    world.folder,
  );
  agent = await startAgent(config, { log, random: () => 0 });
  hostileId = await waitUntil('both are there', async () => {
    const { body } = await world.caller.call<{ data: { id: string; identity: string; has_pulse: boolean }[] }>('GET', '/api/routers');
    return body.data.every((each) => each.has_pulse) && body.data.find(({ identity }) => identity === 'hostile')?.id;
  });
  agentId = (await world.caller.call<{ data: { agent_id: string } }>('GET', `/api/routers/${hostileId}`)).body.data.agent_id;
});

afterAll(async () => {
  await agent?.close();
  await world?.close();
  await hostile?.close();
});

const run = (routerId: string, command: string) =>
  world.caller.call<{ code?: string; detail?: string; data: Record<string, string>[] }>('POST', `/api/synchronous/${routerId}`, {
    command,
    parameters: '',
  });
const epoch = () => world.server.services.gateway.epoch(agentId);

describe('an answer that is too large for the tunnel', () => {
  test.each<[string, string[][]]>([
    ['a row of 3,000 different names', [['!re', ...names(3000)], ['!done']]],
    [
      'rows of 100 names each, all different',
      [...Array.from({ length: 40 }, (_, row) => ['!re', ...names(100).map((word) => word.replace('=n', `=r${row}-`))]), ['!done']],
    ],
    ['a name of 5,000 letters', [['!re', ...names(1, 5000)], ['!done']]],
    ['a value of 100 kB behind !done', [['!done', `=ret=${'x'.repeat(100_000)}`]]],
    ['a refusal of 100 kB', [['!trap', `=message=${'x'.repeat(100_000)}`], ['!done']]],
    ['!done twice, and rows behind it', [['!done'], ['!re', '=a=b'], ['!done', '=ret=x']]],
    ['!done, a trap and another !done for a tag that nobody waits for', [['!done', '=.tag=9999'], ['!trap', '=message=x'], ['!done']]],
  ])('%s: one answer to the caller, and the tunnel goes on', async (_what, sentences) => {
    const before = epoch();
    attack = (heard) => {
      for (const [first, ...rest] of sentences) heard.reply(first!, ...rest);
    };
    const { status } = await run(hostileId, '/attack/print');
    expect([200, 409, 422, 502, 504]).toContain(status);
    expect((await run(neighbourId, '/system/identity/print')).body.data).toEqual([{ name: 'router-0' }]);
    expect(epoch()).toBe(before);
  });

  test('repeated a hundred times does not count as abuse by the agent', async () => {
    const before = epoch();
    attack = (heard) => heard.reply('!done', `=ret=${'x'.repeat(70_000)}`);
    for (let index = 0; index < 130; index += 1) await run(hostileId, '/attack/print');
    expect((await run(neighbourId, '/system/identity/print')).status).toBe(200);
    expect(epoch()).toBe(before);
  });
});

describe('a router adds only short lines to the log of its agent', () => {
  const returned = async (): Promise<void> => {
    inventory = undefined;
    await waitUntil('it is back', async () => (await run(hostileId, '/system/identity/print')).status === 200);
  };
  const isTold = (word: string): Promise<unknown> => waitUntil('the log tells of it', () => logged.some((line) => line.includes(word)));
  const goesAway = async (): Promise<void> => {
    attack = (heard) => heard.socket.destroy();
    await run(hostileId, '/attack/print');
  };

  test.each<[string, string, (heard: Heard) => void]>([
    ['a farewell of 1 MB', 'farewell', (heard) => heard.socket.write(sentence('!fatal', `farewell${'x'.repeat(1_000_000)}`))],
    ['a refusal of 200 kB', 'refusal', (heard) => (heard.reply('!trap', `=message=refusal${'x'.repeat(200_000)}`), heard.reply('!done'))],
    [
      'a hundred refusals of 2 kB',
      'many',
      (heard) => {
        for (let index = 0; index < 100; index += 1) heard.reply('!trap', `=message=many ${index}${'x'.repeat(2000)}`);
        heard.reply('!done');
      },
    ],
    [
      'values that are no text, with names of 200 kB',
      'cleaned',
      (heard) => {
        heard.reply('!re', ...(MENUS[heard.command] ?? []), `=property${'x'.repeat(200_000)}=\x1b[31m`);
        heard.reply('!done');
      },
    ],
  ])(
    '%s',
    async (_what, word, says) => {
      logged.length = 0;
      inventory = says;
      await goesAway();
      await isTold(word);
      await returned();
      expect(Math.max(...logged.map((line) => line.length))).toBeLessThan(1000);
    },
    60_000,
  );
});
