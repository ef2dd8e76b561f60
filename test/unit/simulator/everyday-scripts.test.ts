/** Scripts as administrators write them, on both personalities: each says in its comments what must come of it. */
import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { readEverydayScripts, type EverydayScript, type EverydayStep } from '../../harness/everyday-script.ts';
import type { Origin } from '../../simulator/menu/types.ts';
import { SimulatedRouter } from '../../simulator/router.ts';
import { createScripts } from '../../simulator/scripts.ts';
import { ManualTime } from '../../simulator/time.ts';

const VERSIONS = { v6: '6.49.18', v7: '7.18.2' } as const;
/** Time passes in such steps while a script runs. */
const TICK_MS = 100;
const scripts = readEverydayScripts();

let web: Server;
beforeAll(async () => {
  web = createServer((request, response) => {
    const url = new URL(request.url ?? '/', 'http://localhost');
    if (url.pathname === '/update') response.end(`good ${url.searchParams.get('ip') ?? ''}`);
    else if (url.pathname === '/list.txt') response.end('198.51.100.0/24\n203.0.113.0/24\n');
    else response.writeHead(404).end();
  });
  await once(web.listen(0, '127.0.0.1'), 'listening');
});
afterAll(() => new Promise((resolve) => web.close(resolve)));

class Bench {
  readonly time = new ManualTime();
  readonly router: SimulatedRouter;

  constructor(script: EverydayScript, personality: 'v6' | 'v7') {
    const names = { 'ddns.example': '127.0.0.1', 'lists.example': '127.0.0.1' };
    this.router = new SimulatedRouter(
      { version: VERSIONS[personality], model: 'hEX', time: this.time, names, latestVersion: '9.9' },
      createScripts,
    );
    this.router.powerOn();
    for (const [name, contents] of Object.entries(script.files)) this.router.files.write(name, contents);
  }

  /** Runs a source; the router's time goes on until it has ended. */
  async run(source: string, origin: Origin = 'ssh'): Promise<{ output: string; error: string | undefined }> {
    let output = '';
    const session = { user: 'admin', policies: this.router.policiesOf('admin'), origin, signal: new AbortController().signal };
    const running = this.router.scripts.run(source, session, (text) => (output += text));
    const state = { hasEnded: false };
    const ended = running.finally(() => (state.hasEnded = true));
    while (!state.hasEnded) await this.time.advance(TICK_MS);
    const { error } = await ended;
    return { output: output.replaceAll('\r\n', '\n'), error };
  }

  async prepare(script: EverydayScript): Promise<void> {
    await this.run(`:global webPort ${(web.address() as AddressInfo).port}`);
    const setting = this.router.version.major < 7 ? 'address' : 'server';
    if (script.mailServer !== undefined)
      expect(await this.run(`/tool e-mail set ${setting}=${script.mailServer} from=r1@example.net`)).toEqual({
        output: '',
        error: undefined,
      });
  }

  async step(step: EverydayStep, printed: string): Promise<void> {
    const { router } = this;
    if (step.kind === 'wait') await this.time.advance(step.ms);
    if (step.kind === 'do') expect(await this.run(step.command)).toEqual({ output: '', error: undefined });
    if (step.kind === 'check') expect((await this.run(`:put ${step.expression}`)).output, step.expression).toBe('true\n');
    if (step.kind === 'output') expect(printed.split('\n')).toContain(step.line);
    if (step.kind === 'log')
      expect(router.table('/log').items.map((item) => item.values.get('message'))).toContainEqual(expect.stringContaining(step.text));
    if (step.kind === 'mail')
      expect(router.mails.map(({ subject }) => subject)).toContainEqual(expect.stringMatching(new RegExp(`^${step.subject}`)));
    if (step.kind === 'refuse') await this.refused(step.command, step.answer);
  }

  /** Refused in words, and nothing of the configuration has changed. */
  async refused(command: string, answer: RegExp): Promise<void> {
    const before = this.router.saveConfiguration();
    const { error } = await this.run(command);
    expect(error ?? '', command).toMatch(answer);
    expect(this.router.saveConfiguration() === before, `${command} changes nothing`).toBe(true);
  }
}

it('has sixty scripts, each with an effect and a refusal', () => {
  expect(scripts.length).toBeGreaterThanOrEqual(60);
  for (const { name, steps } of scripts) {
    expect(
      steps.some(({ kind }) => kind === 'refuse'),
      name,
    ).toBe(true);
    expect(
      steps.some(({ kind }) => ['check', 'output', 'log', 'mail'].includes(kind)),
      name,
    ).toBe(true);
  }
});

describe.each(scripts)('$name', (script) => {
  it.each(script.runsOn)('does its work on %s, refuses its wrong variants', async (personality) => {
    const bench = new Bench(script, personality);
    try {
      await bench.prepare(script);
      // As a job does it: the source becomes a script of the router, which is run by name.
      bench.router.table('/system/script').add([
        ['name', 'everyday'],
        ['source', script.source],
        ['policy', [...bench.router.policiesOf('admin')].join(',')],
        ['run-count', '0'],
        ['owner', 'admin'],
      ]);
      const { output, error } = await bench.run('/system script run everyday', 'script');
      expect(error, output).toBeUndefined();
      for (const step of script.steps) await bench.step(step, output);
    } finally {
      await bench.router.powerOff();
    }
  });

  it.each((['v6', 'v7'] as const).filter((personality) => !script.runsOn.includes(personality)))(
    'does not run on %s',
    async (personality) => {
      const bench = new Bench(script, personality);
      const before = bench.router.saveConfiguration();
      expect((await bench.run(script.source)).error).toMatch(/^(bad command name|expected end of command|bad parameter|no such)/);
      expect(bench.router.saveConfiguration() === before, 'nothing has changed').toBe(true);
      await bench.router.powerOff();
    },
  );
});
