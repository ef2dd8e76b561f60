import process from 'node:process';
import { runCli } from './cli/run.ts';

/** `signalbox`: see cli/. */
process.exitCode = await runCli(process.argv.slice(2), {
  stdout: (text) => void process.stdout.write(text),
  stderr: (text) => void process.stderr.write(text),
  isTerminal: process.stdout.isTTY,
});
