import { chmod, mkdir, readFile, rename, writeFile } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import process from 'node:process';

/**
 * Server and API key of the command line: from its options, from SIGNALBOX_SERVER and SIGNALBOX_KEY in the environment, or from
 * the profile that `signalbox login` writes. No other part of the client reads `process.env`.
 */

export interface Profile {
  server: string;
  key: string;
}

export type Environment = Readonly<Record<string, string | undefined>>;

export function ownEnvironment(): Environment {
  return process.env;
}

/** Server or key is missing or malformed. */
export class ConfigError extends Error {
  override readonly name = 'ConfigError';
}

/** Options of the command line. */
export interface ProfileOptions {
  server: string | undefined;
  key: string | undefined;
  /** Path of the profile, instead of the default. */
  profile: string | undefined;
}

const KEY = /^[0-9a-f-]{36}:[0-9a-f-]{36}:[A-Za-z0-9]{62}$/;

/** @throws ConfigError that names the missing or wrong setting */
export async function loadProfile(options: ProfileOptions, env: Environment): Promise<Profile> {
  const { SIGNALBOX_SERVER: envServer, SIGNALBOX_KEY: envKey } = env;
  const given = { server: options.server ?? envServer, key: options.key ?? envKey };
  // A key is never sent to another server than its own: the stored key is used only for the stored server.
  const stored = given.server !== undefined && given.key !== undefined ? undefined : await readProfile(profileFile(options.profile, env));
  const server = given.server ?? stored?.server;
  const key = given.key ?? (stored !== undefined && sameServer(stored.server, server) ? stored.key : undefined);
  const isComplete = server !== undefined && key !== undefined;
  if (!isComplete && options.profile !== undefined && stored === undefined)
    throw new ConfigError(`there is no profile ${options.profile}: run signalbox login --profile ${options.profile}`);
  if (server === undefined) throw new ConfigError('no server: give --server, or run signalbox login');
  if (key === undefined) throw new ConfigError(`no API key for ${server}: give --key, or run signalbox login`);
  return checkProfile({ server, key });
}

/** @throws ConfigError */
export function checkProfile({ server, key }: Profile): Profile {
  const url = URL.parse(server);
  if (url === null || !/^https?:$/.test(url.protocol) || url.username !== '' || url.search !== '') {
    throw new ConfigError('the server must be an address like https://signalbox.example.org');
  }
  if (!KEY.test(key)) throw new ConfigError('an API key has the form <token_id>:<team_id>:<secret>');
  return { server: url.href.replace(/\/+$/, ''), key };
}

/** Writes the profile so that only its owner can read it. @returns the file */
export async function saveProfile(profile: Profile, file: string | undefined, env: Environment): Promise<string> {
  const target = profileFile(file, env);
  await mkdir(path.dirname(target), { recursive: true, mode: 0o700 });
  // Written to a temporary file and renamed: a crash leaves the old profile, and the mode is set before the key is visible.
  const temporary = `${target}.${process.pid}`;
  await writeFile(temporary, `${JSON.stringify(profile, null, 2)}\n`, { mode: 0o600 });
  await chmod(temporary, 0o600);
  await rename(temporary, target);
  return target;
}

function profileFile(file: string | undefined, env: Environment): string {
  if (file !== undefined) return file;
  const folder = env['XDG_CONFIG_HOME'] ?? path.join(env['HOME'] ?? os.homedir(), '.config');
  return path.join(folder, 'signalbox', 'profile.json');
}

async function readProfile(file: string): Promise<Profile | undefined> {
  let text: string;
  try {
    text = await readFile(file, 'utf8');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw new ConfigError(`cannot read ${file}: ${(error as Error).message}`);
  }
  try {
    const { server, key } = JSON.parse(text) as Partial<Profile>;
    if (typeof server === 'string' && typeof key === 'string') return { server, key };
  } catch {
    // Reported like a file of another form.
  }
  throw new ConfigError(`${file} is not a profile: run signalbox login`);
}

function sameServer(stored: string, wanted: string | undefined): boolean {
  return wanted === undefined || stored.replace(/\/+$/, '') === wanted.replace(/\/+$/, '');
}
