import { lstat, readFile, rm } from 'node:fs/promises';
import { sleep } from '../core/clock.ts';
import type { Clock } from '../core/clock.ts';
import { AgentError } from '../core/errors.ts';
import { errorCode, fileErrorReason } from '../core/file-errors.ts';
import type { Log } from '../core/log.ts';
import { Backoff } from './backoff.ts';
import { enrol } from './enrol.ts';
import type { EnrolOptions } from './enrol.ts';
import { LinkError } from './errors.ts';

/** Period of the timer that keeps the process alive between two attempts, in milliseconds; any long time works. */
const LONG_MS = 3_600_000;

export interface FirstStartOptions extends Omit<EnrolOptions, 'token'> {
  /** File with the one-use token and nothing else. */
  tokenFile: string;
  /** Ends the wait: the function then returns without credentials. */
  signal: AbortSignal;
}

export interface FirstStartDeps {
  clock: Clock;
  /** 0 <= x < 1; spreads attempts. */
  random: () => number;
  log: Log;
}

/**
 * Enrols an agent without credentials with the token in a file, and removes the file. If credentials exist, it only removes a token
 * file that an interrupted start left behind. It retries until the control plane answers, because a router may start this program
 * before it has internet access, and may not start it a second time.
 * @returns false when `signal` ended the wait
 * @throws AgentError `invalid` for an unusable token file or folder; LinkError `unauthorized` for a used, expired or unknown token
 */
export async function enrolAtFirstStart(options: FirstStartOptions, { clock, random, log }: FirstStartDeps): Promise<boolean> {
  const { tokenFile, credentialsFile, signal } = options;
  if (await exists(credentialsFile)) {
    await removeToken(tokenFile, log);
    return true;
  }
  const token = await readToken(tokenFile, credentialsFile);
  const backoff = new Backoff(random);
  const alive = setInterval(() => undefined, LONG_MS);
  try {
    while (!signal.aborted) {
      if (await tryToEnrol({ ...options, token }, log)) {
        await removeToken(tokenFile, log);
        return true;
      }
      await sleep(clock, backoff.next({ readyMs: 0 }), signal);
    }
    return false;
  } finally {
    clearInterval(alive);
  }
}

/** Whether there are no credentials yet, but a token file. Changes nothing. */
export async function waitsForFirstStart(tokenFile: string, credentialsFile: string): Promise<boolean> {
  return !(await exists(credentialsFile)) && (await exists(tokenFile));
}

/** @returns false for errors that may go away, to retry. @throws all other errors */
async function tryToEnrol(options: EnrolOptions, log: Log): Promise<boolean> {
  try {
    const { agent_id: agentId } = await enrol(options);
    log.info({ agent: agentId, name: options.name }, 'enrolled');
    return true;
  } catch (error) {
    if (!(error instanceof LinkError) || error.code === 'unauthorized') throw error;
    log.warn({ reason: error.message }, 'not enrolled yet, trying again');
    return false;
  }
}

async function readToken(tokenFile: string, credentialsFile: string): Promise<string> {
  let text: string;
  try {
    text = await readFile(tokenFile, 'utf8');
  } catch (error) {
    if (errorCode(error) === 'ENOENT') throw noToken(`${credentialsFile} is missing, and so is ${tokenFile}`, error);
    throw new AgentError('invalid', `enrol_token_file: ${tokenFile} cannot be read: ${fileErrorReason(error)}`, { cause: error });
  }
  const token = text.trim();
  if (token === '') throw noToken(`${credentialsFile} is missing, and ${tokenFile} is empty`);
  return token;
}

function noToken(what: string, cause?: unknown): AgentError {
  return new AgentError('invalid', `enrol_token_file: ${what}: put a new enrolment token there`, cause === undefined ? {} : { cause });
}

/** The token is used up, so a file that cannot be removed (folder mounted read-only) is harmless. */
async function removeToken(tokenFile: string, log: Log): Promise<void> {
  await rm(tokenFile, { force: true }).catch((error: unknown) => {
    log.warn({ file: tokenFile, reason: fileErrorReason(error) }, 'the used enrolment token cannot be removed');
  });
}

async function exists(file: string): Promise<boolean> {
  return lstat(file).then(
    () => true,
    () => false,
  );
}
