import { execFile } from 'node:child_process';
import { copyFile, mkdtemp, readFile, readdir, rm } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import process from 'node:process';
import { promisify } from 'node:util';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { buildImage, inspectPrograms, unpackImage } from '../harness/agent-image.ts';
import { serveFromContainer } from '../harness/agent-in-container.ts';

/** Needs Debian, its package servers, and root. Programs for arm64 run in Debian's qemu-user-static, which is not installed for it. */

const run = promisify(execFile);

let folder: string;

beforeEach(async () => {
  folder = await mkdtemp(path.join(os.tmpdir(), 'signalbox-images-'));
});

afterEach(() => rm(folder, { recursive: true, force: true }));

async function fetchEmulator(): Promise<string> {
  await run('apt-get', ['-q', '-o', 'APT::Sandbox::User=root', 'download', 'qemu-user-static'], { cwd: folder });
  const archive = (await readdir(folder)).find((name) => name.startsWith('qemu-user-static'))!;
  await run('dpkg-deb', ['-x', archive, 'qemu'], { cwd: folder });
  return path.join(folder, 'qemu', 'usr', 'bin', 'qemu-aarch64-static');
}

test.each(['amd64', 'arm64'] as const)('the image for %s, with Debian’s libraries, is reproducible and runs', async (architecture) => {
  const [archive, again] = [path.join(folder, 'one.tar'), path.join(folder, 'two.tar')];
  const said = await buildImage(archive, '--arch', architecture);
  expect(said).toMatch(/node 24\S+, libc6 \S+, libgcc-s1 \S+, libstdc\+\+6 \S+\n/);
  await buildImage(again, '--arch', architecture);
  expect((await readFile(archive)).equals(await readFile(again))).toBe(true);
  const image = await unpackImage(archive, folder);
  expect(image.architecture).toBe(architecture);
  for (const { file, architecture: made, missing } of await inspectPrograms(image.root)) {
    expect({ file, made, missing }).toEqual({ file, made: architecture, missing: [] });
  }
  const isNative = (process.arch === 'arm64' ? 'arm64' : 'amd64') === architecture;
  if (!isNative) await copyFile(await fetchEmulator(), path.join(image.root, 'qemu'));
  await serveFromContainer(image, isNative ? {} : { emulator: '/qemu' }, 300_000);
});
