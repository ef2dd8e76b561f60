import process from 'node:process';
import closeWithGrace from 'close-with-grace';
import { END_SIGNALS, onEndSignal } from '../../runtime/end-signals.ts';
import { disablePretenuring } from '../../runtime/pretenuring.ts';
import type { Config } from '../config.ts';
import type { RunningServer } from '../compose/start.ts';

/** Requests under way get 10 s and agents 5 s (compose/api.ts); what is in memory is written after that. */
const SHUTDOWN_DEADLINE_MS = 20_000;

/**
 * Starts the control plane and leaves it running: from here on signals and unexpected errors end the process, with
 * code 0 after a signal and 1 after an error. @throws AppError when it cannot be started
 */
export async function serve(config: Config, complain: (text: string) => void): Promise<void> {
  disablePretenuring();
  // Loaded here so that the administration commands start without a web server.
  const { startServer } = await import('../compose/start.ts');
  let server: RunningServer | undefined;
  const stop = new AbortController();
  const logger = { error: (...parts: unknown[]) => complain(parts.map(String).join(' ')) };
  let starting: Promise<unknown> = Promise.resolve();
  // Before the start, so that a signal during it is not lost: the start finishes, then everything is closed.
  const grace = closeWithGrace({ delay: SHUTDOWN_DEADLINE_MS, logger, skip: [...END_SIGNALS] }, async ({ err }) => {
    stop.abort();
    if (err) complain(`signalbox: ${err.stack ?? err.message}`);
    await starting.catch(() => undefined);
    await server?.close();
  });
  // At a terminal, SIGHUP says that it was closed; a service manager asks with it for the files to be read again.
  const isAtTerminal = process.stdin.isTTY || process.stdout.isTTY;
  onEndSignal(() => grace.close(), isAtTerminal ? END_SIGNALS : END_SIGNALS.filter((signal) => signal !== 'SIGHUP'));
  if (!isAtTerminal) process.on('SIGHUP', () => void server?.reload());
  starting = startServer(config, { signal: stop.signal }).then((started) => (server = started));
  try {
    await starting;
  } catch (error) {
    // The signal has ended a start that was waiting for its database, or one that would have failed anyway.
    if (stop.signal.aborted) return;
    grace.uninstall();
    throw error;
  }
}
