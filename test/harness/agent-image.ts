import { spawn, execFile } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { mkdir, readFile, readdir } from 'node:fs/promises';
import path from 'node:path';
import process from 'node:process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { readElf } from '../../scripts/build-image/elf.ts';

/** Loads and runs an image archive like a container engine, with the system's own tools. */

const run = promisify(execFile);
const BUILD = fileURLToPath(new URL('../../scripts/build-image.ts', import.meta.url));

export interface UnpackedImage {
  root: string;
  architecture: string;
  entrypoint: string[];
  command: string[];
}

/** Builds an archive as `npm run build:image` does. @returns the program's output */
export async function buildImage(out: string, ...words: string[]): Promise<string> {
  return (await run(process.execPath, [BUILD, '--out', out, ...words], { timeout: 300_000 })).stdout;
}

/** Unpacks the layers in their order, after comparing each with its digest. */
export async function unpackImage(archive: string, folder: string): Promise<UnpackedImage> {
  const [parts, root] = [path.join(folder, 'parts'), path.join(folder, 'root')];
  for (const made of [parts, root]) await mkdir(made, { recursive: true });
  await run('tar', ['-xf', archive, '-C', parts]);
  const json = async <T>(name: string): Promise<T> => JSON.parse(await readFile(path.join(parts, name), 'utf8')) as T;
  const [manifest] = await json<{ Config: string; Layers: string[] }[]>('manifest.json');
  const config = await json<{ architecture: string; config: { Entrypoint: string[]; Cmd: string[] }; rootfs: { diff_ids: string[] } }>(
    manifest!.Config,
  );
  const configDigest = await digestOf(path.join(parts, manifest!.Config));
  if (manifest!.Config !== `${configDigest}.json`) throw new Error('the configuration is not called after its digest');
  if (config.rootfs.diff_ids.length !== manifest!.Layers.length) throw new Error('as many digests as layers');
  for (const [index, layer] of manifest!.Layers.entries()) {
    const file = path.join(parts, layer);
    if (config.rootfs.diff_ids[index] !== `sha256:${await digestOf(file)}`) throw new Error(`${layer} has another digest`);
    await run('tar', ['-xpf', file, '-C', root]);
  }
  return { root, architecture: config.architecture, entrypoint: config.config.Entrypoint, command: config.config.Cmd };
}

async function digestOf(file: string): Promise<string> {
  return createHash('sha256')
    .update(await readFile(file))
    .digest('hex');
}

/** Programs and libraries in the image: what each is made for, and which libraries it needs that are not there. */
export async function inspectPrograms(root: string): Promise<{ file: string; architecture: string | undefined; missing: string[] }[]> {
  const files = (await readdir(root, { recursive: true, withFileTypes: true })).filter((entry) => entry.isFile());
  const names = new Set(files.map(({ name }) => name));
  const found = [];
  for (const { parentPath, name } of files) {
    const contents = await readFile(path.join(parentPath, name));
    if (contents.toString('latin1', 1, 4) !== 'ELF') continue;
    const { architecture, needed, interpreter } = readElf(contents);
    const wanted = [...needed, ...(interpreter === undefined ? [] : [path.basename(interpreter)])];
    found.push({ file: name, architecture, missing: wanted.filter((library) => !names.has(library)) });
  }
  return found;
}

export interface ContainerOptions {
  /** Without any network, not even loopback. */
  offline?: boolean;
  /** Network namespace of the container, as `ip netns` calls it. */
  network?: string;
  /** Program in the image that runs programs of its processor. */
  emulator?: string;
}

/** As root, the agent sees nothing but the image and is process 1 there; only the network is this machine's. */
function containerCommand(
  { root, entrypoint }: UnpackedImage,
  words: readonly string[],
  { offline, network, emulator }: ContainerOptions,
): [program: string, words: string[]] {
  const namespaces = ['--mount', '--pid', '--fork', '--mount-proc', '--kill-child', ...(offline ? ['--net'] : [])];
  const inside = [`--root=${root}`, '--wd=/', ...(emulator === undefined ? [] : [emulator]), ...entrypoint, ...words];
  if (network === undefined) return [UNSHARE, [...namespaces, ...inside]];
  return ['/usr/bin/nsenter', [`--net=/run/netns/${network}`, UNSHARE, ...namespaces, ...inside]];
}

const UNSHARE = '/usr/bin/unshare';
const ENVIRONMENT = { PATH: '/usr/local/bin:/usr/bin:/bin' };
/** A command under emulation loads for seconds, and the machine may be busy. */
const COMMAND_MS = 120_000;

export function runInContainer(
  image: UnpackedImage,
  words: readonly string[],
  options: ContainerOptions = {},
): Promise<{ code: number | string; output: string }> {
  return new Promise((resolve) => {
    execFile(...containerCommand(image, words, options), { env: ENVIRONMENT, timeout: COMMAND_MS }, (error, stdout, stderr) => {
      resolve({ code: error?.code ?? 0, output: stdout + stderr });
    });
  });
}

/** The image's own command, until {@link RunningContainer.stop}. */
export class RunningContainer {
  readonly #child: ChildProcess;
  #output = '';

  constructor(image: UnpackedImage, options: ContainerOptions = {}) {
    this.#child = spawn(...containerCommand(image, image.command, options), { env: ENVIRONMENT, stdio: ['ignore', 'pipe', 'pipe'] });
    for (const stream of [this.#child.stdout!, this.#child.stderr!]) stream.on('data', (data: Buffer) => (this.#output += data.toString()));
  }

  get output(): string {
    return this.#output;
  }

  /** SIGTERM to the container's process 1, as an engine stops it. @returns its exit code */
  async stop(): Promise<number | null> {
    if (this.#child.exitCode !== null) return this.#child.exitCode;
    const ended = once(this.#child, 'exit') as Promise<[number | null]>;
    const children = await readFile(`/proc/${this.#child.pid}/task/${this.#child.pid}/children`, 'utf8');
    process.kill(Number(children.trim()), 'SIGTERM');
    const [code] = await ended;
    return code;
  }
}

/** Containers need a root user here who may make namespaces, and util-linux. */
export async function canRunContainers(): Promise<boolean> {
  return run(UNSHARE, ['--mount', '--pid', '--fork', '--mount-proc', '--net', 'true']).then(
    () => true,
    () => false,
  );
}
