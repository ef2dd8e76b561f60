import { spawn, spawnSync } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import path from 'node:path';
import process from 'node:process';
import { createInterface } from 'node:readline';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { FLEET_KEY, FleetApi } from '../harness/fleet-api.ts';
import { SmallTerminal } from '../harness/small-terminal.ts';
import { waitUntil } from '../harness/wait-until.ts';

/** `signalbox top` as its own process on a real terminal: sizes, signals, and what it leaves behind. */

const hasPython = spawnSync('python3', ['--version']).status === 0 || process.env['CI'] !== undefined;

interface Said {
  output?: string;
  settings?: unknown;
  code?: number;
}

class TerminalSession {
  readonly terminal: SmallTerminal;
  /** Of the terminal, each time that they were asked for. */
  readonly settings: unknown[] = [];
  output = '';
  code: number | undefined;
  readonly #draws: boolean;
  readonly #program: ChildProcess;

  constructor(columns: number, rows: number, env: Record<string, string>) {
    this.terminal = new SmallTerminal(columns, rows);
    this.#draws = env['TERM'] !== 'dumb';
    const words = [
      path.resolve('test/harness/on_a_terminal.py'),
      String(rows),
      String(columns),
      process.execPath,
      path.resolve('client/main.ts'),
      'top',
    ];
    this.#program = spawn('python3', words, {
      env: { PATH: process.env['PATH']!, TERM: 'xterm-256color', ...env },
      stdio: ['pipe', 'pipe', 'inherit'],
    });
    createInterface({ input: this.#program.stdout! }).on('line', (line) => this.#hear(JSON.parse(line) as Said));
  }

  #hear({ output, settings, code }: Said): void {
    if (output !== undefined) {
      this.output += output;
      // Lines of another terminal may wrap.
      if (this.#draws) this.terminal.write(output);
    }
    if (settings !== undefined) this.settings.push(settings);
    if (code !== undefined) this.code = code;
  }

  send(line: string): void {
    this.#program.stdin!.write(`${line}\n`);
  }

  press(keys: string): void {
    this.send(`keys ${JSON.stringify(keys)}`);
  }

  resize(columns: number, rows: number): void {
    this.terminal.resize(columns, rows);
    this.send(`size ${rows} ${columns}`);
  }

  shows(text: string): Promise<unknown> {
    return waitUntil(`the terminal shows ${text}`, () => this.terminal.lines.join('\n').includes(text));
  }

  async end(): Promise<number> {
    await waitUntil('the program has ended', () => this.code !== undefined);
    return this.code!;
  }

  async close(): Promise<void> {
    this.#program.stdin!.end();
    if (this.#program.exitCode === null) await once(this.#program, 'exit');
  }
}

describe.runIf(hasPython)('signalbox top on a real terminal', () => {
  let api: FleetApi;
  let session: TerminalSession;
  const env = (): Record<string, string> => ({ SIGNALBOX_SERVER: api.url, SIGNALBOX_KEY: FLEET_KEY });
  beforeEach(async () => {
    api = await FleetApi.start({ routers: 50, down: 12, work: 2 });
  });
  afterEach(async () => {
    await session.close();
    await api.close();
  });

  test.each([
    ['q', 'q', 0],
    ['Ctrl-C', '\u0003', 130],
  ])('draws in 80 x 24, follows a resize, and %s leaves the terminal as it was', async (_name, key, code) => {
    session = new TerminalSession(80, 24, env());
    await session.shows('live');
    await session.shows('Not answering (12)');
    session.press('xyz');
    session.resize(140, 50);
    // The last of twelve: there was no room for it.
    await session.shows('gw-11');
    session.press(key);
    expect(await session.end()).toBe(code);
    expect(session.terminal).toMatchObject({ isOtherScreen: false, hasCursor: true, wraps: true, isStyled: false });
    // Echo, line editing and signals are as before; the keys that were pressed were never shown.
    expect(session.settings.at(-1)).toEqual(session.settings[0]);
    expect(session.output).not.toContain('xyz');
  });

  test('without colour and on a terminal that cannot move its cursor', async () => {
    session = new TerminalSession(80, 24, { ...env(), NO_COLOR: '1' });
    await session.shows('Not answering (12)');
    for (const style of ['1', '2', '31', '32', '33']) expect(session.output).not.toContain(`\u001b[${style}m`);
    session.press('q');
    expect(await session.end()).toBe(0);
    await session.close();
    session = new TerminalSession(140, 24, { ...env(), TERM: 'dumb' });
    await waitUntil('the counts are printed', () => session.output.includes('Routers 50 (answering 38'));
    expect(session.output.replaceAll('\r\n', '')).not.toMatch(/\p{Cc}/u);
    session.press('\u0003');
    expect(await session.end()).toBe(130);
  });
});
