import { StringDecoder } from 'node:string_decoder';
import type { ServerChannel } from 'ssh2';
import { commonStart, completionsOf, menuOf } from './completion.ts';
import { runLine } from './exec.ts';
import { LineEditor, readKeys } from './line-editor.ts';
import type { Pty, SshPeer } from './types.ts';

/** Keys that wait while a command runs; the rest is dropped, as a router does. */
const MOST_WAITING_KEYS = 4096;

/** A console on a terminal: a prompt, colours, editing, a history, completion, Ctrl-C; until `quit`, Ctrl-D or the end of input. */
export async function runTerminal(peer: SshPeer, channel: ServerChannel, pty: Pty): Promise<void> {
  if (peer.router.faults.deaf) return;
  await new Terminal(peer, channel, pty).run();
  if (channel.destroyed) return;
  channel.exit(0);
  channel.end();
}

class Terminal {
  private readonly peer: SshPeer;
  private readonly channel: ServerChannel;
  private readonly pty: Pty;
  private readonly editor = new LineEditor();
  private readonly keys: string[] = [];
  private menu = '';
  private ended = false;
  private wake: () => void = () => undefined;
  private running: AbortController | undefined;

  constructor(peer: SshPeer, channel: ServerChannel, pty: Pty) {
    this.peer = peer;
    this.channel = channel;
    this.pty = pty;
    this.listen();
  }

  async run(): Promise<void> {
    const { version } = this.peer.router;
    const site = version.text.startsWith('6.') ? 'http://www.mikrotik.com/' : 'https://www.mikrotik.com/';
    this.write(`\r\n\r\n  MikroTik RouterOS ${version.text} (c) 1999-2026       ${site}\r\n\r\n\r\n`);
    this.draw();
    for (let key = await this.nextKey(); key !== undefined; key = await this.nextKey()) {
      if (!(await this.handle(key))) return;
    }
  }

  /** @returns false when the session is over */
  private async handle(key: string): Promise<boolean> {
    const edit = this.editor.press(key);
    switch (edit.kind) {
      case 'typed':
        this.write(edit.text);
        return true;
      case 'redraw':
        this.draw();
        return true;
      case 'complete':
        this.complete();
        return true;
      case 'interrupt':
        this.editor.clear();
        this.write('\r\n');
        this.draw();
        return true;
      case 'enter':
        this.write('\r\n');
        return this.execute(edit.line.trim());
      case 'end':
        this.write('\r\n');
        return false;
      case 'none':
        return true;
    }
  }

  private async execute(line: string): Promise<boolean> {
    if (line === 'quit' || line === '/quit') return false;
    const menu = menuOf(this.peer.router.menus, this.menu, line);
    if (menu !== undefined) this.menu = menu;
    else if (line !== '') await this.runCommand(line);
    this.draw();
    return true;
  }

  private async runCommand(line: string): Promise<void> {
    const isOwn = line.startsWith('/') || line.startsWith(':') || this.menu === '';
    this.running = new AbortController();
    try {
      await runLine(
        this.peer,
        this.channel,
        isOwn ? line : `${this.menu.replaceAll('/', ' ').replace(' ', '/')} ${line}`,
        this.running.signal,
      );
    } finally {
      this.running = undefined;
    }
  }

  private complete(): void {
    const { line, at } = this.editor;
    const { from, words } = completionsOf(this.peer.router.menus, this.menu, line.slice(0, at));
    const start = commonStart(words);
    if (start.length > at - from) this.editor.replace(from, start);
    if (words.length === 1 && !start.endsWith('=')) this.editor.replace(this.editor.at, ' ');
    else if (words.length > 1 && start.length <= at - from) this.write(`\r\n${this.columns(words)}\r\n`);
    this.draw();
  }

  private columns(words: readonly string[]): string {
    const width = Math.max(...words.map(({ length }) => length)) + 2;
    const perLine = Math.max(1, Math.floor(this.pty.cols / width));
    const lines: string[] = [];
    for (let i = 0; i < words.length; i += perLine) {
      lines.push(
        words
          .slice(i, i + perLine)
          .map((word) => this.coloured(word.padEnd(width), word.endsWith('=') ? '32' : '36'))
          .join(''),
      );
    }
    return lines.join('\r\n');
  }

  /** The prompt with the line and the cursor in it. */
  private draw(): void {
    const { router, user } = this.peer;
    const name = this.coloured(router.setting('/system/identity', 'name'), '36');
    const path = router.version.text.startsWith('6.') ? this.menu.replaceAll('/', ' ').replace(' ', '/') : this.menu;
    const prompt = `[${this.coloured(user, '32')}@${name}] ${this.coloured(path, '35')}> `;
    const { line, at } = this.editor;
    const back = line.length - at;
    this.write(`\r\u001b[K${prompt}${line}${back > 0 ? `\u001b[${back}D` : ''}`);
  }

  private coloured(text: string, colour: string): string {
    const isPlain = this.peer.terminalFlags.includes('c') || this.pty.term === 'dumb' || text === '';
    return isPlain ? text : `\u001b[${colour}m${text}\u001b[m`;
  }

  private write(text: string): void {
    if (this.peer.router.faults.silent || !this.channel.writable) return;
    this.channel.write(this.peer.router.faults.spoil?.('console', 'text', text) ?? text);
  }

  private listen(): void {
    const decoder = new StringDecoder('utf8');
    let pending = '';
    this.channel.on('data', (chunk: Buffer) => {
      const { keys, rest } = readKeys(pending + decoder.write(chunk));
      pending = rest;
      for (const key of keys) {
        // While a command runs, Ctrl-C is for that command.
        if (key === '\u0003' && this.running) this.running.abort();
        else if (this.keys.length < MOST_WAITING_KEYS) this.keys.push(key);
      }
      this.wake();
    });
    const end = (): void => {
      this.ended = true;
      this.running?.abort();
      this.wake();
    };
    this.channel.once('end', end);
    this.channel.once('close', end);
  }

  /** Undefined at the end of the input. */
  private async nextKey(): Promise<string | undefined> {
    while (this.keys.length === 0 && !this.ended) {
      await new Promise<void>((resolve) => {
        this.wake = resolve;
      });
    }
    return this.keys.shift();
  }
}
