import { spawn, spawnSync } from 'node:child_process';
import { createInterface } from 'node:readline';
import { waitUntil } from '../wait-until.ts';
import { freePort } from './postfix.ts';

/** The mail server with faults: `faulty_smtp.py`. The recipient's local part names the fault: r421, r450, r550, silent, dropped … */

/** Debian's own, which has its packages; another one may come first in PATH. */
const PYTHON = '/usr/bin/python3';

export const hasFaultySmtp = spawnSync(PYTHON, ['-c', 'import aiosmtpd'], { stdio: 'ignore' }).status === 0;

export interface AcceptedMail {
  to: string[];
  data: string;
}

export interface FaultySmtp {
  port: number;
  /** Mails whose final dot has been read, whatever was answered. */
  accepted: AcceptedMail[];
  close(): Promise<void>;
}

export async function startFaultySmtp({ login = false } = {}): Promise<FaultySmtp> {
  const port = await freePort();
  const script = new URL('./faulty_smtp.py', import.meta.url).pathname;
  const server = spawn(PYTHON, [script, String(port), ...(login ? ['--login'] : [])], { stdio: ['pipe', 'pipe', 'ignore'] });
  const exited = new Promise((resolve) => server.once('exit', resolve));
  const accepted: AcceptedMail[] = [];
  let isReady = false;
  createInterface({ input: server.stdout }).on('line', (line) => {
    const said = JSON.parse(line) as { ready?: boolean } & AcceptedMail;
    if (said.ready === true) isReady = true;
    else accepted.push(said);
  });
  await waitUntil('the faulty mail server is ready', () => {
    if (server.exitCode !== null) throw new Error('the mail server did not start');
    return isReady;
  });
  return {
    port,
    accepted,
    close: async () => {
      // Not a request: a silent connection would keep it for an hour.
      server.kill('SIGKILL');
      await exited;
    },
  };
}
