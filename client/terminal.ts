import process from 'node:process';
import { createInterface } from 'node:readline/promises';
import type { RawTerminal, Screen } from './cli/command.ts';
import type { Environment } from './config.ts';

const CTRL_C = '\u0003';

/**
 * The terminal of this process; undefined when the output goes elsewhere or the terminal cannot move its cursor.
 * @param onCtrlC a terminal that sends keys at once sends no signal for Ctrl-C
 */
export function processScreen({ TERM: term, NO_COLOR: noColour }: Environment, onCtrlC: () => void): Screen | undefined {
  const { stdin, stdout } = process;
  if (!stdout.isTTY || term === undefined || term === '' || term === 'dumb') return undefined;
  return {
    // Some terminals do not tell their size: that of the oldest.
    size: () => ({ columns: stdout.columns || 80, rows: stdout.rows || 24 }),
    onResize: (listener) => {
      stdout.on('resize', listener);
      return () => void stdout.off('resize', listener);
    },
    readKeys: (onKey) => {
      if (!stdin.isTTY) return () => undefined;
      const onData = (text: string): void => {
        for (const key of text)
          if (key === CTRL_C) onCtrlC();
          else onKey(key);
      };
      stdin.setRawMode(true).setEncoding('utf8').on('data', onData).resume();
      return () => void stdin.off('data', onData).setRawMode(false).pause();
    },
    // https://no-color.org
    hasColour: noColour === undefined || noColour === '',
  };
}

/** The terminal of this process for a shell; undefined when input or output is no terminal. */
export function processTerminal(signal: AbortSignal): RawTerminal | undefined {
  const { stdin, stdout } = process;
  if (!stdin.isTTY || !stdout.isTTY) return undefined;
  return {
    size: () => ({ columns: stdout.columns || 80, rows: stdout.rows || 24 }),
    onResize: (listener) => {
      stdout.on('resize', listener);
      return () => void stdout.off('resize', listener);
    },
    write: (bytes) => void stdout.write(bytes),
    readBytes: (onBytes) => {
      stdin.setRawMode(true).on('data', onBytes).resume();
      return () => void stdin.off('data', onBytes).setRawMode(false).pause();
    },
    ask: async (question) => {
      const lines = createInterface({ input: stdin, output: stdout });
      try {
        return await lines.question(question, { signal });
      } finally {
        lines.close();
      }
    },
  };
}
