/** A few of the everyday scripts through the whole product: as jobs, on a router of each personality. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { readEverydayScripts, type EverydayScript } from '../harness/everyday-script.ts';
import { waitUntil } from '../harness/wait-until.ts';
import { World } from '../harness/world.ts';

const CHOSEN = [
  'dhcp-lease-to-static.rsc',
  'error-handling.rsc',
  'firewall-port-forward.rsc',
  'function-with-parameters.rsc',
  'ipsec-site-to-site.rsc',
  'l2tp-server.rsc',
  'loops.rsc',
  'string-handling.rsc',
];
const scripts = readEverydayScripts().filter(({ name }) => CHOSEN.includes(name));

interface Job {
  status: string;
  phase: string;
  error: string | null;
  output: string | null;
}

let world: World;
let ids: string[];
beforeAll(async () => {
  world = await World.start({
    routers: [
      { version: '6.49.18', model: 'hEX' },
      { version: '7.18.2', model: 'hEX' },
    ],
  });
  ids = await world.routerIds();
});
afterAll(() => world.close());

async function runJob(index: number, script: string): Promise<Job> {
  const body = { description: 'everyday', script, make_backup: false, express_execute: true, needs_acknowledgement: true };
  const answer = await world.caller.call<{ data: { job_id: string } }>('POST', `/api/asynchronous/${ids[index]}`, body);
  expect(answer.status, JSON.stringify(answer.body)).toBe(200);
  return waitUntil('the job ends', async () => {
    const job = (await world.caller.call<{ data: Job }>('GET', `/api/routers/${ids[index]}/jobs/${answer.body.data.job_id}`)).body.data;
    return ['completed', 'failed', 'expired', 'unknown'].includes(job.status) && job.phase !== 'accepted' ? job : undefined;
  });
}

/** Asked on the router itself, not through the product. */
async function holds(index: number, expression: string): Promise<string> {
  const { router } = world.simulators[index]!;
  let output = '';
  const session = {
    user: 'admin',
    policies: new Set(['read', 'test', 'sensitive']),
    origin: 'script' as const,
    signal: AbortSignal.timeout(10_000),
  };
  await router.scripts.run(`:put ${expression}`, session, (text) => (output += text));
  return output.trim();
}

async function checkEffects(index: number, { steps }: EverydayScript, output: string | null): Promise<void> {
  for (const step of steps) {
    if (step.kind === 'check') expect(await holds(index, step.expression), step.expression).toBe('true');
    if (step.kind === 'output') expect(output?.split('\n')).toContain(step.line);
    if (step.kind === 'log') expect(world.simulators[index]!.log).toContainEqual(expect.stringContaining(step.text));
  }
}

test('every chosen script exists', () => {
  expect(scripts.map(({ name }) => name)).toEqual(CHOSEN);
});

describe.each([
  ['RouterOS 6', 0],
  ['RouterOS 7', 1],
] as const)('on %s', (_name, index) => {
  test.each(scripts)('$name has the same effect as a job as by hand', async (script) => {
    const job = await runJob(index, script.source);
    expect(job).toMatchObject({ status: 'completed', error: null });
    await checkEffects(index, script, job.output);
  });

  test.each([
    ['/interface vlan add name=v interface=ether1 vlan-id=5000', 'value of vlan-id out of range (1..4094)'],
    ['/ip route add gateway=999.1.1.1', 'invalid value for argument gateway'],
    ['/ip dns set servers=not-an-ip', 'invalid value for argument servers'],
    ['/system identity set name=two words', 'expected end of command (line 1 column 31)'],
  ])('%s fails with the message of the router', async (script, message) => {
    const job = await runJob(index, script);
    expect(job.status).toBe('failed');
    expect(job.error).toContain(message);
  });
});
