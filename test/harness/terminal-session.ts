import { spawn, spawnSync } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import path from 'node:path';
import process from 'node:process';
import { createInterface } from 'node:readline';
import { SmallTerminal } from './small-terminal.ts';
import { waitUntil } from './wait-until.ts';

/** The terminal is one of Python's. */
export const hasPython = spawnSync('python3', ['--version']).status === 0 || process.env['CI'] !== undefined;

interface Said {
  output?: string;
  settings?: unknown;
  code?: number;
}

/** `signalbox` as its own process on a real terminal. */
export class TerminalSession {
  readonly terminal: SmallTerminal;
  /** Of the terminal, each time that they were asked for. */
  readonly settings: unknown[] = [];
  output = '';
  code: number | undefined;
  readonly #draws: boolean;
  readonly #program: ChildProcess;

  constructor(columns: number, rows: number, env: Record<string, string>, command: readonly string[]) {
    this.terminal = new SmallTerminal(columns, rows);
    // The small terminal knows what `top` draws with, and no more.
    this.#draws = env['TERM'] !== 'dumb' && command[0] === 'top';
    const words = [
      path.resolve('test/harness/on_a_terminal.py'),
      String(rows),
      String(columns),
      process.execPath,
      path.resolve('client/main.ts'),
      ...command,
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

  /** SIGKILL: the program gets no chance to do anything. */
  kill(): void {
    this.send('kill');
  }

  resize(columns: number, rows: number): void {
    this.terminal.resize(columns, rows);
    this.send(`size ${rows} ${columns}`);
  }

  shows(text: string): Promise<unknown> {
    return waitUntil(`the terminal shows ${text}`, () => this.plain.includes(text)).catch((error: unknown) => {
      throw new Error(`the terminal shows:\n${this.plain.slice(-2000)}`, { cause: error });
    });
  }

  /** What can be read on it; for programs that do not draw, everything that they printed. */
  get plain(): string {
    return this.#draws ? this.terminal.lines.join('\n') : this.output.replaceAll(/\p{Cc}\[[0-9;?]*[A-Za-z]/gu, '');
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
