import { randomBytes } from 'node:crypto';
import type { TerminalLevel } from '../../../protocol/index.ts';
import { type Deadline, toError } from '../../core/deadline.ts';
import type { RouterFacts } from '../adapter.ts';
import { apiReader, sshReader } from '../inventory-reader.ts';
import { openApi, openSsh, terminalLevelsOf, type RouterAccess } from '../open-sessions.ts';
import { unknownCertificate } from './api-certificate.ts';
import { changeChecks } from './changes.ts';
import { HostKeyTrial } from './host-key.ts';
import { policyChecks, readPolicies, runnerOf } from './policies.ts';
import { readingChecks } from './readings.ts';
import { findsNoUser, tryTerminal } from './terminals.ts';
import type { Check, CheckContext, CheckRow, Finding } from './types.ts';

export type { CheckRow } from './types.ts';

/** Time of each step, in milliseconds; a router that answers at all needs a second or two. */
const STEP_TIMEOUT_MS = 10_000;

export interface CheckOptions {
  /** Folder with the agent's recorded host keys; a check only reads it. */
  stateFolder: string;
  /** `terminal` of agent.yaml; default: `off`. */
  terminal?: 'off' | TerminalLevel;
  signal?: AbortSignal;
  /** Milliseconds since 1970. */
  now?: () => number;
}

/**
 * Tests everything that the agent needs of a router, one check after another, and undoes its changes. Never throws: a failure is a row.
 */
export async function checkRouter(
  config: RouterAccess,
  { stateFolder, terminal = 'off', signal, now = Date.now }: CheckOptions,
): Promise<CheckRow[]> {
  const deadline: Deadline = { timeoutMs: STEP_TIMEOUT_MS, signal };
  const rows: CheckRow[] = [];
  const note = async <T>(what: string, costs: string, work: () => Promise<T>, describe: (value: T) => Finding): Promise<T | undefined> => {
    try {
      const value = await work();
      rows.push(toRow(config.name, what, costs, describe(value)));
      return value;
    } catch (error) {
      rows.push(toRow(config.name, what, costs, { ok: false, detail: toError(error).message }));
      return undefined;
    }
  };
  const loggedIn = (): Finding => ({ ok: true, detail: 'logged in' });
  const api = config.api ? await note('api login', 'no commands and no jobs', () => openApi(config, deadline), loggedIn) : undefined;
  const unknown = api === undefined ? await unknownCertificate(config, deadline) : undefined;
  if (unknown) rows.push(toRow(config.name, 'api certificate', '', unknown));
  const trial = await HostKeyTrial.open(config, stateFolder);
  const ssh = config.ssh
    ? await note('ssh login', 'no forwards by ssh, no files', () => openSsh(config, trial.stateFolder, deadline), loggedIn)
    : undefined;
  const terminals = { config, run: runnerOf({ api, ssh }), allowed: terminal, stateFolder: trial.stateFolder, deadline };
  const shells: unknown[] = [];
  for (const level of terminalLevelsOf(config)) {
    shells.push(await note(`terminal ${level}`, `no terminals of the level ${level}`, () => tryTerminal(level, terminals), asFound));
  }
  const noUser = findsNoUser(terminals);
  if (noUser) rows.push(toRow(config.name, 'terminal', '', noUser));
  const unpinned = await trial.finding([ssh, ...shells].some((session) => session !== undefined));
  if (unpinned) rows.push(toRow(config.name, 'ssh host key', '', unpinned));
  await trial.close();
  const nonce = `signalbox-check-${randomBytes(4).toString('hex')}`;
  const context: CheckContext = { config, api, ssh, facts: undefined, policies: undefined, deadline, now, nonce };
  try {
    if (api ?? ssh) {
      context.facts = await note('inventory', 'the router cannot be identified', () => readFacts(context), describeFacts);
      context.policies = await readPolicies(context).catch(() => undefined);
    }
    for (const check of checksFor(context)) await note(check.what, check.costs, () => check.run(context), asFound);
  } finally {
    await Promise.all([api?.close(), ssh?.close()]);
  }
  return rows;
}

const asFound = (finding: Finding): Finding => finding;

function checksFor(context: CheckContext): Check[] {
  return [...policyChecks, ...changeChecks, ...readingChecks].filter((check) => check.applies(context));
}

async function readFacts({ api, ssh, deadline }: CheckContext): Promise<RouterFacts> {
  return api ? apiReader.read(api, deadline) : sshReader.read(ssh!, deadline);
}

function describeFacts({ identity, boardName, softwareVersion, hardwareId }: RouterFacts): Finding {
  return { ok: true, detail: `${identity}: ${boardName}, RouterOS ${softwareVersion}, ${hardwareId}` };
}

function toRow(router: string, what: string, costs: string, { ok, detail, ...rest }: Finding): CheckRow {
  return { router, what, ok, ...rest, detail: ok || costs === '' ? detail : `${detail} (${costs})` };
}
