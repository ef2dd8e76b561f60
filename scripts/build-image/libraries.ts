import { readFileSync, statSync } from 'node:fs';
import path from 'node:path';
import { readElf } from './elf.ts';
import type { Architecture } from './elf.ts';
import { BuildError } from './error.ts';

/** One library of the image, at the path where the loader searches. */
export interface Library {
  /** Path in the image, without a leading slash. */
  path: string;
  contents: Buffer;
}

/** Default search paths of Debian's loader; the last two are for other systems. */
const FOLDERS: Readonly<Record<Architecture, readonly string[]>> = {
  amd64: ['lib/x86_64-linux-gnu', 'usr/lib/x86_64-linux-gnu', 'lib64', 'usr/lib64'],
  arm64: ['lib/aarch64-linux-gnu', 'usr/lib/aarch64-linux-gnu', 'lib64', 'usr/lib64'],
};

/** glibc opens them by name to resolve host names, so no header lists them; from glibc 2.34 on they are empty. */
const NAME_SERVICE = ['libnss_files.so.2', 'libnss_dns.so.2'];

/**
 * The loader of a program and every library that it or they need, from the files below `root`.
 * @throws BuildError for what is missing there or made for another processor
 */
export function collectLibraries(program: Buffer, architecture: Architecture, root: string): Library[] {
  const { interpreter, needed } = readElf(program);
  if (interpreter === undefined) throw new BuildError('the program names no loader');
  const loader = readLibrary(root, interpreter.slice(1), architecture);
  if (!loader) throw new BuildError(`${path.join(root, interpreter)} is missing`);
  const found = new Map<string, Library>([[path.basename(interpreter), loader]]);
  const wanted = [...needed, ...NAME_SERVICE];
  for (let name = wanted.shift(); name !== undefined; name = wanted.shift()) {
    if (found.has(name)) continue;
    const library = findLibrary(root, name, architecture);
    found.set(name, library);
    wanted.push(...readElf(library.contents).needed);
  }
  return [...found.values()];
}

function findLibrary(root: string, name: string, architecture: Architecture): Library {
  for (const folder of FOLDERS[architecture]) {
    const library = readLibrary(root, `${folder}/${name}`, architecture);
    if (library) return library;
  }
  throw new BuildError(`${name} for ${architecture} is nowhere below ${root}`);
}

function readLibrary(root: string, file: string, architecture: Architecture): Library | undefined {
  const name = path.join(root, file);
  if (!statSync(name, { throwIfNoEntry: false })?.isFile()) return undefined;
  const contents = readFileSync(name);
  return readElf(contents).architecture === architecture ? { path: file, contents } : undefined;
}
