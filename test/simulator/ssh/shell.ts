import type { ServerChannel } from 'ssh2';
import { runLine } from './exec.ts';
import type { SshPeer } from './types.ts';

/** Longest line a shell takes: what `:execute` takes. */
const maxLine = 65_536;

/** A minimal console: a prompt, an echo, one line after another until `/quit`, Ctrl-D or the end of input. */
export async function runShell(peer: SshPeer, channel: ServerChannel): Promise<void> {
  const input = new LineInput(channel);
  for (;;) {
    channel.write(`[${peer.user}@${peer.router.setting('/system/identity', 'name')}] > `);
    const line = await input.next();
    if (line === undefined) break;
    channel.write(`${line}\r\n`);
    if (line.trim() === '/quit' || line.trim() === 'quit') break;
    await runLine(peer, channel, line);
  }
  if (channel.destroyed) return;
  channel.exit(0);
  channel.end();
}

/** Lines of a channel one at a time; the client is held back while one of them runs. */
class LineInput {
  private readonly channel: ServerChannel;
  private readonly lines: string[] = [];
  private pending = '';
  private ended = false;
  private wake: () => void = () => undefined;

  constructor(channel: ServerChannel) {
    this.channel = channel;
    channel.on('data', (chunk: Buffer) => this.take(chunk.toString('utf8')));
    const end = (): void => {
      this.ended = true;
      this.wake();
    };
    channel.once('end', end);
    channel.once('close', end);
  }

  /** The next line; undefined at the end of the input. */
  async next(): Promise<string | undefined> {
    while (this.lines.length === 0 && !this.ended) {
      this.channel.resume();
      await new Promise<void>((resolve) => {
        this.wake = resolve;
      });
    }
    return this.lines.shift();
  }

  private take(text: string): void {
    this.channel.pause();
    const lines = (this.pending + text).split(/\r\n|\r|\n/);
    this.pending = lines.pop() ?? '';
    this.lines.push(...lines);
    if (this.pending.includes('\u0004') || this.pending.length > maxLine) this.ended = true;
    this.wake();
  }
}
