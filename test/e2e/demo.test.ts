import { execFile } from 'node:child_process';
import { readdir, readFile, rm } from 'node:fs/promises';
import path from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { copyDemo, demoFile, freeDemoPorts } from '../harness/demo-copy.ts';
import { childrenOf, commandLine } from '../harness/process-state.ts';
import { Program } from '../harness/program.ts';
import { waitUntil } from '../harness/wait-until.ts';

const START_MS = 300_000;

interface DemoFile {
  base_url: string;
  api_key: string;
  admin_email: string;
  internal_token: string;
  routers: { id: string; identity: string; api_port: number; ssh_port: number }[];
}

let folder: string;
let demo: Program;
let told: DemoFile;

beforeAll(async () => {
  folder = await copyDemo();
  demo = new Program(demoFile(folder, 'scripts/demo.ts'), [], {
    DEMO_PORT: String(await freeDemoPorts()),
    // It is asked again and again whether it is back.
    SIGNALBOX_RATE_LIMIT_PER_MINUTE: '100000',
  });
  demo.start();
  await waitUntil('the demo says how it ends', () => demo.output.includes('Ctrl-C ends the demo.') || failIfOver(), START_MS);
  told = JSON.parse(await readFile(path.join(folder, '.demo/demo.json'), 'utf8')) as DemoFile;
}, START_MS + 10_000);
afterAll(async () => {
  await demo.interrupt();
  await rm(folder, { recursive: true, force: true });
});

/** In the folder of the first. Without a port it asks for the one that the first demo has. */
function secondDemo(port: string | undefined): Program {
  return new Program(demoFile(folder, 'scripts/demo.ts'), [], { DEMO_PORT: port ?? new URL(told.base_url).port });
}

/** @throws with what it printed when the demo has ended */
function failIfOver(): undefined {
  return void demo.pid;
}

async function routers(): Promise<{ identity: string; has_pulse: boolean }[]> {
  const answer = await fetch(`${told.base_url}/api/routers`, { headers: { authorization: `Bearer ${told.api_key}` } });
  return ((await answer.json()) as { data: { identity: string; has_pulse: boolean }[] }).data;
}

async function ask(command: string): Promise<number> {
  const answer = await fetch(`${told.base_url}/api/synchronous/${told.routers[0]!.id}`, {
    method: 'POST',
    headers: { authorization: `Bearer ${told.api_key}`, 'content-type': 'application/json' },
    body: JSON.stringify({ command, parameters: '' }),
  });
  return answer.status;
}

function pidOf(file: string): number | undefined {
  return childrenOf(demo.pid).find((pid) => commandLine(pid).includes(path.join(folder, file)));
}

describe('npm run demo', () => {
  test('tells its administrator by mails that are files, from a group with the four topics', async () => {
    const call = async <T>(method: string, where: string): Promise<T> => {
      const answer = await fetch(`${told.base_url}${where}`, { method, headers: { authorization: `Bearer ${told.api_key}` } });
      expect(answer.status).toBe(200);
      return (await answer.json()) as T;
    };
    const { data: groups } = await call<{ data: { id: string; name: string; topics: string[]; reaches: number }[] }>('GET', '/api/groups');
    expect(groups).toMatchObject([{ name: 'On call', topics: { length: 4 }, reaches: 1 }]);
    const { data } = await call<{ data: { messages: { channel: string; state: string }[] } }>('POST', `/api/groups/${groups[0]!.id}/test`);
    // Nobody can prove the invented channel: the demo never writes to a real address.
    expect(data.messages.toSorted((one, other) => one.channel.localeCompare(other.channel))).toMatchObject([
      { channel: 'email', state: 'sent' },
      { channel: 'slack', state: 'withheld', reason: 'unverified' },
    ]);
    const mails = path.join(folder, '.demo/mail');
    const mail = await readFile(path.join(mails, (await readdir(mails)).toSorted().at(-1)!), 'utf8');
    expect(mail).toMatch(/^To: admin@example\.test\r$/m);
    expect(mail).toMatch(/^Subject: Test: /m);
  });

  test('writes .demo/demo.json for programs and prints working curl lines', async () => {
    expect(told).toMatchObject({
      base_url: expect.stringMatching(/^http:\/\/127\.0\.0\.1:\d+$/),
      admin_email: 'admin@example.test',
      internal_token: expect.any(String),
      routers: [{ identity: 'edge-berlin' }, { identity: 'edge-zurich' }],
    });
    // Once, and not in each line that somebody copies.
    expect(demo.output.split(told.api_key)).toHaveLength(2);
    const [, setKey, listing] = /^ +(KEY=\S+)$[^]*?^ +(curl .*\/api\/routers)$/m.exec(demo.output)!;
    const { stdout } = await promisify(execFile)('sh', ['-c', `${setKey}\n${listing}`]);
    expect(JSON.parse(stdout)).toMatchObject({ data: [{ identity: expect.any(String) }, {}] });
    const [first] = demo.output.split('\n');
    expect(first).toBe(`Signalbox: ${told.base_url}/, in a moment. Sign in as ${told.admin_email} with the password signalbox-demo.`);
    const release = await fetch(`${told.base_url}/agent/release`);
    expect(release.status).toBe(200);
    const listed = await routers();
    expect(listed).toHaveLength(2);
    for (const { identity } of told.routers) expect(listed).toContainEqual(expect.objectContaining({ identity, has_pulse: true }));
    expect(await ask('/ip/address/print')).toBe(200);
  });

  test.each(['agent/main.ts', 'server/main.ts'])(
    'restarts %s when it is killed, as a service manager would',
    async (file) => {
      const before = pidOf(file)!;
      process.kill(before, 'SIGKILL');
      await waitUntil('there is another process', () => pidOf(file) !== undefined && pidOf(file) !== before, START_MS);
      await waitUntil('a command is answered again', async () => (await ask('/system/identity/print').catch(() => 0)) === 200, START_MS);
      expect(demo.output).toContain('exited with SIGKILL; restarting it.');
    },
    2 * START_MS,
  );

  test(
    'proposes a free port to a second demo, which does not touch the files of the first',
    async () => {
      const clashing = secondDemo(undefined);
      clashing.start();
      expect(await clashing.ended()).toBe(1);
      const proposed = /DEMO_PORT=(\d+) npm run demo/.exec(clashing.output)?.[1];
      expect(proposed).toBeDefined();

      const second = secondDemo(proposed);
      second.start();
      await waitUntil('the second demo is up', () => second.output.includes('Ctrl-C ends the demo.') || failIfOver(), START_MS);
      const file = path.join(folder, `.demo-${proposed}/demo.json`);
      expect(JSON.parse(await readFile(file, 'utf8'))).toMatchObject({ base_url: `http://127.0.0.1:${proposed}` });
      expect(await second.interrupt()).toBe(0);

      expect(await ask('/system/identity/print')).toBe(200);
    },
    2 * START_MS,
  );

  test('exits on Ctrl-C and leaves no process', async () => {
    const children = childrenOf(demo.pid);
    expect(children).toHaveLength(4);
    expect(await demo.interrupt()).toBe(0);
    expect(children.filter((pid) => commandLine(pid) !== '')).toEqual([]);
  });

  test.each(['Starting two', 'Creating a team', 'Waiting for both'])('exits on Ctrl-C also during "%s"', async (words) => {
    demo.start();
    const before = demo.output.length;
    await waitUntil('it has come so far', () => demo.output.slice(before).includes(words) || failIfOver(), START_MS);
    const children = childrenOf(demo.pid);
    expect(await demo.interrupt()).toBe(0);
    expect(children.filter((pid) => commandLine(pid) !== '')).toEqual([]);
  });
});
