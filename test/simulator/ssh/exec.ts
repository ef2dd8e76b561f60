import type { ServerChannel } from 'ssh2';
import { bytesOf } from '../api/words.ts';
import { peerSession, type SshPeer } from './types.ts';

/** Output a client leaves unread before its command is cut off. */
const maxUnread = 16 * 1024 * 1024;

/**
 * Runs one command line in a channel and ends it. As on a router, errors are text on standard output and the exit
 * status is 0 all the same.
 */
export async function runExec(peer: SshPeer, channel: ServerChannel, command: string): Promise<void> {
  // There is no terminal: one line is all that is read.
  const [line = ''] = command.split(/\r?\n/, 1);
  await runLine(peer, channel, line);
  if (peer.router.faults.silent || peer.router.faults.deaf || channel.destroyed) return;
  channel.exit(0);
  channel.end();
}

/** Runs one line; its output goes to the channel, and the channel's end interrupts it, or `interrupt` does (Ctrl-C). */
export async function runLine(peer: SshPeer, channel: ServerChannel, line: string, interrupt?: AbortSignal): Promise<void> {
  const { router } = peer;
  if (router.faults.deaf) return;
  const controller = new AbortController();
  const abort = (): void => controller.abort();
  channel.once('close', abort);
  peer.signal.addEventListener('abort', abort, { once: true });
  interrupt?.addEventListener('abort', abort, { once: true });
  const record = router.executions.begin({ kind: 'exec', name: 'ssh', source: line, user: peer.user });
  const write = (text: string): void => {
    if (router.faults.silent || controller.signal.aborted || !channel.writable) return;
    channel.write(bytesOf(router.faults.spoil?.('console', 'text', text) ?? text));
    if (channel.writableLength > maxUnread) abort();
  };
  try {
    const result = await router.scripts.run(line, peerSession(peer, controller.signal), write);
    if (controller.signal.aborted) record.end('interrupted');
    else record.end(result.error === undefined ? 'ok' : 'error', result.error);
  } finally {
    record.end('error', 'the script engine failed');
    peer.signal.removeEventListener('abort', abort);
    channel.off('close', abort);
  }
}
