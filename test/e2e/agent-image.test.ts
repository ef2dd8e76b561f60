import { execFile } from 'node:child_process';
import { mkdtemp, readFile, rm, stat } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import process from 'node:process';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { buildImage, canRunContainers, inspectPrograms, unpackImage } from '../harness/agent-image.ts';
import type { UnpackedImage } from '../harness/agent-image.ts';
import { serveFromContainer } from '../harness/agent-in-container.ts';

/**
 * The image for this machine's processor, with this machine's libraries, so that no network is needed. `agent-image.long.ts` has
 * Debian's libraries and both processors.
 */

const ARCHITECTURE = process.arch === 'arm64' ? 'arm64' : 'amd64';

let folder: string;
let archive: string;
let said: string;
let image: UnpackedImage;

beforeAll(async () => {
  folder = await mkdtemp(path.join(os.tmpdir(), 'signalbox-image-test-'));
  archive = path.join(folder, 'agent.tar');
  said = await buildImage(archive, '--arch', ARCHITECTURE, '--system-libraries');
  image = await unpackImage(archive, folder);
});

afterAll(() => rm(folder, { recursive: true, force: true }));

test('the archive has one uncompressed layer, the entry point of the Dockerfile, and a checksum file', async () => {
  const { stdout } = await promisify(execFile)('tar', ['-tf', archive]);
  expect(stdout.split('\n').filter((name) => name.endsWith('layer.tar'))).toHaveLength(1);
  expect(image).toMatchObject({ architecture: ARCHITECTURE, command: ['run', '--config', '/etc/signalbox/agent.yaml'] });
  const dockerfile = await readFile(new URL('../../docker/agent.Dockerfile', import.meta.url), 'utf8');
  const words = (name: string): string[] => JSON.parse(new RegExp(`^${name} (.*)$`, 'm').exec(dockerfile)![1]!) as string[];
  expect([image.entrypoint[1], image.command]).toEqual([words('ENTRYPOINT')[1], words('CMD')]);
  expect((await promisify(execFile)('sha256sum', ['-c', `${archive}.sha256`], { cwd: folder })).stdout).toBe('agent.tar: OK\n');
});

test('the build is reproducible', async () => {
  const again = path.join(folder, 'again.tar');
  const saidAgain = await buildImage(again, '--arch', ARCHITECTURE, '--system-libraries');
  expect((await readFile(again)).equals(await readFile(archive))).toBe(true);
  const sum = /^sha256 \w{64}$/m;
  expect(sum.exec(saidAgain)?.[0]).toBe(sum.exec(said)?.[0]);
});

test('every program in the image matches the processor and finds all its libraries', async () => {
  const programs = await inspectPrograms(image.root);
  expect(programs.map(({ file }) => file)).toEqual(expect.arrayContaining(['node', 'libc.so.6', 'libstdc++.so.6', 'libnss_dns.so.2']));
  for (const { file, architecture, missing } of programs)
    expect({ file, architecture, missing }).toEqual({ file, architecture: ARCHITECTURE, missing: [] });
});

test('the folders of the image have the permissions for temporary files and secrets', async () => {
  const modeOf = async (name: string): Promise<number> => (await stat(path.join(image.root, name))).mode & 0o7777;
  expect(await modeOf('tmp')).toBe(0o1777);
  expect([await modeOf('etc/signalbox'), await modeOf('var/lib/signalbox-agent')]).toEqual([0o700, 0o700]);
});

test('an agent in the image checks its router, enrols, serves, and stops as process 1', async (context) => {
  if (!(await canRunContainers())) return context.skip('this user may not make namespaces');
  await serveFromContainer(image, {}, 30_000);
});

test.each([
  [['--arch', 'arm'], '--arch must be amd64 or arm64'],
  [['--arch', ARCHITECTURE === 'amd64' ? 'arm64' : 'amd64', '--system-libraries'], 'this machine has no libraries for'],
  [['--colour'], "Unknown option '--colour'"],
])('a wrong command line is reported: %j', async (words, reason) => {
  await expect(buildImage(path.join(folder, 'none.tar'), ...words)).rejects.toThrow(reason);
});
