import { parseClock } from '../../../routeros-text/clock.ts';
import { isMissingFile } from '../ssh/index.ts';
import { AgentError } from '../../core/errors.ts';
import type { Check, CheckContext, Finding } from './types.ts';

/** Checks that only read. */

/** Largest clock error that passes. Certificates, schedules and logs tolerate it; NTP keeps well within it. */
const CLOCK_TOLERANCE_MS = 5 * 60_000;

/** Largest output of the test command, which prints one word. */
const CONSOLE_BYTES = 4096;

async function readClock({ api, deadline, now }: CheckContext): Promise<Finding> {
  const { rows } = await api!.command({ path: '/system/clock/print', words: [] }, deadline);
  const moment = parseClock(rows[0] ?? {});
  if (moment === undefined) return { ok: false, detail: 'the router’s clock cannot be read' };
  const offMs = moment - now();
  const shown = new Date(moment).toISOString().replace('.000Z', 'Z');
  if (Math.abs(offMs) <= CLOCK_TOLERANCE_MS) return { ok: true, detail: shown };
  return { ok: false, detail: `${shown}, off by ${Math.round(offMs / 60_000)} minutes: set up NTP` };
}

async function readForwarding({ api, deadline }: CheckContext): Promise<Finding> {
  const { rows } = await api!.command({ path: '/ip/ssh/print', words: [] }, deadline);
  const value = rows[0]?.['forwarding-enabled'];
  if (value === undefined) return { ok: false, detail: 'the router has no such setting' };
  const on = ['local', 'both', 'yes', 'true'].includes(value);
  return { ok: true, detail: on ? value : `${value}: switched to local while a forward by ssh is open` };
}

/** Reads a missing file: the answer "no such file" proves that SFTP works. */
async function trySftp({ ssh, deadline, nonce }: CheckContext): Promise<Finding> {
  try {
    await ssh!.readFile(nonce, { ...deadline, maxBytes: 1 });
  } catch (error) {
    if (!isMissingFile(error)) throw error;
  }
  return { ok: true, detail: 'files can be read' };
}

async function tryConsole({ ssh, deadline }: CheckContext): Promise<Finding> {
  const { text } = await ssh!.exec(':put ok', { ...deadline, maxBytes: CONSOLE_BYTES });
  if (text.trim() !== 'ok') throw new AgentError('rejected', `answered ${JSON.stringify(text.slice(0, 100))}`);
  return { ok: true, detail: 'commands can be run' };
}

export const readingChecks: readonly Check[] = [
  { what: 'console', costs: 'no job output before 7.8', applies: ({ ssh }) => ssh !== undefined, run: tryConsole },
  { what: 'sftp', costs: 'no backups before jobs', applies: ({ ssh }) => ssh !== undefined, run: trySftp },
  {
    what: 'ssh forwarding',
    costs: 'no forwards by ssh',
    applies: ({ api, ssh }) => api !== undefined && ssh !== undefined,
    run: readForwarding,
  },
  {
    what: 'clock',
    costs: 'schedules fire at the wrong time, and certificates are refused',
    applies: ({ api }) => api !== undefined,
    run: readClock,
  },
];
