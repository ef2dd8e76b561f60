import process from 'node:process';
import { runCli } from './cli/run.ts';
import { ownEnvironment } from './config.ts';
import { processScreen, processTerminal } from './terminal.ts';

/** `signalbox` for API users: see cli/. */
const ended = new AbortController();
// `on`, not `once`: a terminal signals every process in it, and npx passes the signal on as well. The second signal must not
// interrupt the closing. SIGHUP: the terminal was closed, so its forwards must be closed too.
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => ended.abort());
// `signalbox … | head` is not an error.
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
  columns: process.stdout.columns || Infinity,
  screen: processScreen(ownEnvironment(), () => ended.abort()),
  terminal: processTerminal(ended.signal),
});
// Waits until a pipe has taken everything.
for (const stream of [process.stdout, process.stderr]) await new Promise((resolve) => stream.write('', resolve));
// An explicit exit: when the event loop runs empty, Node removes the signal handlers first, and a signal that arrives then
// would turn an orderly end into a kill.
process.exit(exitCode);
