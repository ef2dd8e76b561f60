import { afterEach, beforeEach, expect, it } from 'vitest';
import type { ChosenWay } from '../../agent/forward/choose-way.ts';
import type { RouterAdapter } from '../../agent/routers/adapter.ts';
import { echo, ForwardBranches } from '../harness/forward-branch.ts';
import { StallProxy } from '../harness/stall-proxy.ts';
import { Stopwatch } from '../harness/stopwatch.ts';

/** A router that lost its power has forgotten the SSH session of the agent, which nobody has told. */

let branches: ForwardBranches;
let line: StallProxy;
let router: RouterAdapter;

beforeEach(async () => {
  branches = new ForwardBranches();
  const branch = await branches.branch({ api: true, ssh: true }, {}, async (port) => {
    line = await StallProxy.start(port);
    return line.port;
  });
  router = branch.router;
});

afterEach(async () => {
  await branches.close();
  await line.close();
});

it('the next client is served within the client timeout, and later ones at once', async () => {
  const chosen: ChosenWay = await branches.choose(router, await branches.echoService());
  expect(chosen.way.name).toBe('ssh');
  expect(await echo(chosen, 'before')).toBe('before');
  line.strand();
  const stopwatch = new Stopwatch();
  expect(await Promise.all([echo(chosen, 'first'), echo(chosen, 'second')])).toEqual(['first', 'second']);
  expect(stopwatch.ms).toBeLessThan(8000);
  stopwatch.restart();
  expect(await echo(chosen, 'third')).toBe('third');
  expect(stopwatch.ms).toBeLessThan(1000);
  await chosen.way.close();
});
