/** `npm run build:image -- --arch arm64`: an archive of the agent for RouterOS containers, without a container engine. */
import { execFile } from 'node:child_process';
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import process from 'node:process';
import { fileURLToPath } from 'node:url';
import { parseArgs, promisify } from 'node:util';
import { AGENT_VERSION } from '../agent/version.ts';
import { readElf, stripElf } from './build-image/elf.ts';
import type { Architecture } from './build-image/elf.ts';
import { BuildError } from './build-image/error.ts';
import { packImage, sha256 } from './build-image/image.ts';
import { collectLibraries } from './build-image/libraries.ts';
import { fetchDebianLibraries, findNode } from './build-image/parts.ts';

const USAGE = `npm run build:image -- --arch amd64|arm64 [--out FILE] [--system-libraries]

Writes FILE (dist/signalbox-agent-<arch>.tar), an image as docker save writes it, and FILE.sha256. Node comes from npm, the
libraries from this machine's Debian or Ubuntu package sources; nothing is installed. --system-libraries takes those of this
machine instead, which must have the same processor, and needs no network.
There is no image for 32-bit ARM: Node 24 does not exist for it.
`;

const project = path.dirname(path.dirname(fileURLToPath(import.meta.url)));

/** Node's name of this machine's processor. */
const HERE: Readonly<Record<string, Architecture>> = { x64: 'amd64', arm64: 'arm64' };

interface Options {
  architecture: Architecture;
  out: string;
  systemLibraries: boolean;
}

function readOptions(): Options | undefined {
  const { values } = parseArgs({
    options: { arch: { type: 'string' }, out: { type: 'string' }, 'system-libraries': { type: 'boolean' }, help: { type: 'boolean' } },
  });
  if (values.help) return undefined;
  const { arch: architecture, 'system-libraries': systemLibraries = false } = values;
  if (architecture !== 'amd64' && architecture !== 'arm64') throw new BuildError(`--arch must be amd64 or arm64\n\n${USAGE}`);
  if (systemLibraries && HERE[process.arch] !== architecture) throw new BuildError(`this machine has no libraries for ${architecture}`);
  return {
    architecture,
    systemLibraries,
    out: path.resolve(values.out ?? path.join(project, 'dist', `signalbox-agent-${architecture}.tar`)),
  };
}

async function build({ architecture, out, systemLibraries }: Options, workFolder: string): Promise<void> {
  const bundle = path.join(workFolder, 'signalbox-agent.cjs');
  await promisify(execFile)(process.execPath, [path.join(project, 'scripts', 'build-agent.ts'), bundle]);
  const node = await findNode(project, architecture, path.join(workFolder, 'npm'));
  if (readElf(node.program).architecture !== architecture) throw new BuildError(`npm's Node is not one for ${architecture}`);
  const libraries = path.join(workFolder, 'debian');
  const ownLibraries = { root: '/', packages: ['libraries of the machine that built it'] };
  const { root, packages } = systemLibraries ? ownLibraries : await fetchDebianLibraries(architecture, libraries);
  const { archive, unpackedBytes } = packImage({
    architecture,
    version: AGENT_VERSION,
    node: stripElf(node.program),
    nodeLicense: node.license,
    libraries: collectLibraries(node.program, architecture, root),
    agent: await readFile(bundle),
    labels: { 'signalbox.parts': [`node ${node.version}`, ...packages].join(', ') },
  });
  await mkdir(path.dirname(out), { recursive: true });
  await writeFile(out, archive);
  await writeFile(`${out}.sha256`, `${sha256(archive)}  ${path.basename(out)}\n`);
  const megabytes = (bytes: number): string => `${(bytes / 1e6).toFixed(1)} MB`;
  process.stdout.write(`${path.relative(process.cwd(), out)} ${megabytes(archive.length)}, unpacked ${megabytes(unpackedBytes)}\n`);
  process.stdout.write(`sha256 ${sha256(archive)}\nnode ${node.version}, ${packages.join(', ')}\n`);
}

const workFolder = await mkdtemp(path.join(os.tmpdir(), 'signalbox-image-'));
try {
  const options = readOptions();
  if (options) await build(options, workFolder);
  else process.stdout.write(USAGE);
} catch (error) {
  const isWrongUsage = error instanceof TypeError && 'code' in error;
  process.stderr.write(`${error instanceof BuildError || isWrongUsage ? error.message : String((error as Error).stack)}\n`);
  process.exitCode = 1;
} finally {
  await rm(workFolder, { recursive: true, force: true });
}
