import { runCli } from '../../client/cli/run.ts';
import type { Surroundings } from '../../client/cli/command.ts';

export interface Ran {
  code: number;
  stdout: string;
  stderr: string;
}

interface Options extends Partial<Surroundings> {
  server: string;
  key: string;
}

/** Runs `signalbox` for an API user inside this process. */
export async function runSignalbox(words: readonly string[], { server, key, ...surroundings }: Options): Promise<Ran> {
  const ran = { stdout: '', stderr: '' };
  const code = await runCli(words, {
    stdout: (text) => void (ran.stdout += text),
    stderr: (text) => void (ran.stderr += text),
    readInput: async () => '',
    env: { SIGNALBOX_SERVER: server, SIGNALBOX_KEY: key },
    signal: new AbortController().signal,
    columns: Infinity,
    ...surroundings,
  });
  return { code, ...ran };
}
