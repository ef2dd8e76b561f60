import { mkdtemp, readFile, rm } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { errorCode } from '../../core/file-errors.ts';
import { terminalLevelsOf } from '../open-sessions.ts';
import type { RouterAccess } from '../open-sessions.ts';
import { hostKeyFile } from '../ssh/index.ts';
import type { Finding } from './types.ts';

/**
 * The host key of a router during a check. A first-seen key is recorded in a temporary folder: the check may run as another user, and
 * the agent could not read a file of that user.
 */
export class HostKeyTrial {
  /** For `openSsh`. */
  readonly stateFolder: string;
  readonly #name: string;
  readonly #pinned: boolean;
  readonly #temporary: string | undefined;

  private constructor(config: RouterAccess, stateFolder: string, temporary: string | undefined) {
    this.stateFolder = temporary ?? stateFolder;
    this.#name = config.name;
    this.#pinned = config.ssh?.host_key !== undefined;
    this.#temporary = temporary;
  }

  /** Never throws: falls back to the state folder if there is no temporary one. */
  static async open(config: RouterAccess, stateFolder: string): Promise<HostKeyTrial> {
    const usesSsh = config.ssh !== undefined || terminalLevelsOf(config).length > 0;
    const isNew = usesSsh && config.ssh?.host_key === undefined && (await isMissing(stateFolder, config.name));
    const temporary = isNew ? await mkdtemp(path.join(os.tmpdir(), 'signalbox-check-')).catch(() => undefined) : undefined;
    return new HostKeyTrial(config, stateFolder, temporary);
  }

  /**
   * The warning after the login: the password was sent to a host whose key is not pinned by `host_key`.
   * @returns undefined when the key is pinned, was not seen, or caused the failure
   */
  async finding(loggedIn: boolean): Promise<Finding | undefined> {
    if (this.#pinned || (!loggedIn && this.#temporary === undefined)) return undefined;
    const seen = await recordedKey(this.stateFolder, this.#name).catch(() => undefined);
    if (seen === undefined) return undefined;
    const trust = this.#temporary === undefined ? 'trusted on first use' : 'not verified';
    return { ok: true, warning: true, detail: `${trust}: if this is the router's key, set host_key: "${seen}"` };
  }

  async close(): Promise<void> {
    if (this.#temporary !== undefined) await rm(this.#temporary, { recursive: true, force: true }).catch(() => undefined);
  }
}

async function isMissing(stateFolder: string, name: string): Promise<boolean> {
  return recordedKey(stateFolder, name).then(
    () => false,
    (error: unknown) => errorCode(error) === 'ENOENT',
  );
}

async function recordedKey(stateFolder: string, name: string): Promise<string> {
  return (await readFile(hostKeyFile(stateFolder, name).file, 'utf8')).trim();
}
