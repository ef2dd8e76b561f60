import { createHash, randomUUID } from 'node:crypto';
import { link, mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { fileNameOf } from '../../core/file-name.ts';
import { syncFolder } from '../../core/sync-folder.ts';

/** Which host key is accepted: a pinned one, or the first one seen (trust on first use), recorded in a file. */
export type HostKeyPolicy = { fingerprint: string } | { file: string };

/** With the draft's suffix it has the largest length of a file name. */
const LONGEST_NAME = 210;

/** The file with a router's first-seen key, in the agent's state folder. The name may contain any character. */
export function hostKeyFile(stateFolder: string, routerName: string): { file: string } {
  return { file: path.join(stateFolder, 'host-keys', `${fileNameOf(encodeURIComponent(routerName), LONGEST_NAME)}.hostkey`) };
}

/** `SHA256:…` as `ssh-keygen -l` prints it: base64 without padding. */
export function keyFingerprint(key: Buffer): string {
  return `SHA256:${createHash('sha256').update(key).digest('base64').replace(/=+$/, '')}`;
}

/**
 * Checks a key, and records the first one. @returns why it is refused; undefined when it is accepted
 * @throws Error when the file cannot be read or written, so that the key cannot be checked
 */
export async function checkHostKey(key: Buffer, policy: HostKeyPolicy): Promise<string | undefined> {
  const seen = keyFingerprint(key);
  if ('fingerprint' in policy) {
    return seen === policy.fingerprint.replace(/=+$/, '') ? undefined : `the host key is ${seen}, not the one required`;
  }
  const known = (await recorded(policy.file)) ?? (await record(policy.file, seen));
  return seen === known ? undefined : `the host key has changed to ${seen}; if that is right, delete ${policy.file}`;
}

async function recorded(file: string): Promise<string | undefined> {
  try {
    return (await readFile(file, 'utf8')).trim();
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw error;
  }
}

/**
 * Writes the fingerprint durably, unless another connection was faster. An existing file is always complete: it gets its name only
 * after its content is on disk. @returns the recorded fingerprint
 */
async function record(file: string, fingerprint: string): Promise<string> {
  const folder = path.dirname(file);
  await mkdir(folder, { recursive: true, mode: 0o700 });
  const draft = `${file}.${randomUUID()}`;
  try {
    await writeFile(draft, `${fingerprint}\n`, { flag: 'wx', mode: 0o600, flush: true });
    await link(draft, file);
    await syncFolder(folder);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
  } finally {
    await rm(draft, { force: true });
  }
  return (await recorded(file)) ?? fingerprint;
}
