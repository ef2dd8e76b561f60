import type { ClientChannel } from 'ssh2';

export interface ExecOutput {
  /** Output with line ends as LF. */
  text: string;
  /** True when there were more than `maxBytes` bytes; the rest was dropped. */
  truncated: boolean;
  /** RouterOS sends 0 even for failures; null when it sent none. */
  exitStatus: number | null;
}

/** Collects the output of a channel, at most `maxBytes`, and calls `done` when it closes. */
export function collectOutput(channel: ClientChannel, maxBytes: number, done: (output: ExecOutput) => void): void {
  const chunks: Buffer[] = [];
  let room = maxBytes;
  let truncated = false;
  let exitStatus: number | null = null;
  channel.on('data', (chunk: Buffer) => {
    truncated ||= chunk.length > room;
    const kept = chunk.subarray(0, room);
    room -= kept.length;
    if (kept.length > 0) chunks.push(kept);
  });
  // RouterOS sends nothing on stderr, but the channel ends only when it is read.
  channel.stderr.resume();
  channel.on('exit', (code: number | null) => {
    exitStatus = code;
  });
  channel.on('close', () => {
    const text = Buffer.concat(chunks).toString('utf8').replaceAll('\r\n', '\n');
    done({ text, truncated, exitStatus });
  });
}
