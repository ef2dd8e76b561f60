import process from 'node:process';
import { runCli } from './cli/run.ts';
import { ownEnvironment } from './config.ts';

/** `signalbox` for API users: see cli/. */
const ended = new AbortController();
// Not once: a terminal signals everybody in it, npx and the like pass the signal on, and the second must not end what is
// being closed. SIGHUP: the terminal was closed, and what was opened for the person at it has to be closed too.
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => ended.abort());
// `signalbox … | head` is no failure.
process.stdout.on('error', () => ended.abort());
process.stderr.on('error', () => ended.abort());

const exitCode = await runCli(process.argv.slice(2), {
  stdout: (text) => void process.stdout.write(text),
  stderr: (text) => void process.stderr.write(text),
  readInput: async () => {
    let text = '';
    for await (const chunk of process.stdin.setEncoding('utf8')) text += String(chunk);
    return text;
  },
  env: ownEnvironment(),
  signal: ended.signal,
  columns: process.stdout.columns || 120,
});
// A pipe takes what its reader leaves room for.
for (const stream of [process.stdout, process.stderr]) await new Promise((resolve) => stream.write('', resolve));
// Not left to the loop's running out: before a program is gone by itself the engine takes its handlers away, and a signal
// that was passed on late would then kill what has ended in good order.
process.exit(exitCode);
