import { access, mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import process from 'node:process';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { runCli } from '../../server/cli/run.ts';
import { buildImage, canRunContainers, RunningContainer, runInContainer, unpackImage } from '../harness/agent-image.ts';
import type { UnpackedImage } from '../harness/agent-image.ts';
import { ContainerLab } from '../harness/container-lab.ts';
import { createTeam } from '../harness/installation.ts';
import { whyNoLab } from '../harness/network-lab.ts';
import { waitUntil } from '../harness/wait-until.ts';

/**
 * The lines of `enrol-token create --routeros` from end to end: printed by the command, pasted into a simulated router, and the agent
 * started from the real image with the files, the mount and the network that the lines have made. Two things are not the router's own:
 * RouterOS does not unpack the image (this test does), and its firewall sees the container come in over the bridge.
 */

const SERVER = `http://${ContainerLab.routerAddress}:8080`;
/** A board with this machine's processor, so that the image runs. */
const [MODEL, ARCHITECTURE] = process.arch === 'arm64' ? (['CCR2004-1G-12S+2XS', 'arm64'] as const) : (['CHR', 'amd64'] as const);

const reason = whyNoLab() ?? ((await canRunContainers()) ? undefined : 'this user may not make namespaces');
if (reason !== undefined) process.stderr.write(`the agent on a router is not tested: ${reason}\n`);

let folder: string;
let lab: ContainerLab;
let image: UnpackedImage;
let apiKey: string;
const databaseUrl = (): string => `sqlite:${path.join(folder, 'signalbox.db')}`;

beforeAll(async () => {
  if (reason !== undefined) return;
  folder = await mkdtemp(path.join(os.tmpdir(), 'signalbox-on-router-'));
  const archive = path.join(folder, 'agent.tar');
  await buildImage(archive, '--arch', ARCHITECTURE, '--system-libraries');
  image = await unpackImage(archive, folder);
  lab = await ContainerLab.open({ model: MODEL, version: '7.20.8', identity: 'edge' });
  lab.startServer({
    SIGNALBOX_LISTEN: `${ContainerLab.routerAddress}:8080`,
    SIGNALBOX_SANDBOX_LISTEN: '',
    SIGNALBOX_DATABASE_URL: databaseUrl(),
    SIGNALBOX_SECRET_KEY_FILE: path.join(folder, 'secret.key'),
  });
  await waitUntil(
    'the control plane is ready',
    () =>
      lab.get(`${SERVER}/readyz`, '').then(
        () => true,
        () => false,
      ),
    60_000,
  );
  ({ apiKey } = await createTeam(databaseUrl()));
});

afterAll(async () => {
  if (reason !== undefined) return;
  await lab.close();
  await rm(folder, { recursive: true, force: true });
});

/** As an administrator of the control plane types it. */
async function printedLines(...words: string[]): Promise<string[]> {
  let stdout = '';
  const output = { stdout: (text: string) => void (stdout += text), stderr: (text: string) => void (stdout += text) };
  const code = await runCli(['enrol-token', 'create', '--team', 'Test', '--routeros', ...words], {
    ...output,
    env: { SIGNALBOX_DATABASE_URL: databaseUrl() },
  });
  expect({ code, stdout }).toMatchObject({ code: 0 });
  return stdout.trimEnd().split('\n');
}

const paste = (lines: string[]) => lab.router.ask<{ output: string; error?: string }>({ method: 'paste', lines });

/** What RouterOS does for a container: what the mount names is in it. */
async function mount(): Promise<void> {
  const [{ src, dst }] = (await lab.router.items('/container/mounts')) as [{ src: string; dst: string }];
  const files = await lab.router.ask<Record<string, string>>({ method: 'files', folder: src });
  for (const [name, contents] of Object.entries(files)) {
    const file = path.join(image.root, dst, name);
    await mkdir(path.dirname(file), { recursive: true });
    await writeFile(file, Buffer.from(contents, 'base64'));
  }
}

test.skipIf(reason !== undefined)(
  'pasted lines give an agent that enrols by itself and works through the user they made',
  async () => {
    expect(await paste([`/file/add name="disk1/signalbox-agent-${ARCHITECTURE}.tar" contents="image"`])).toEqual({ output: '' });
    const { output, error } = await paste(await printedLines('--server-url', SERVER, '--name', 'edge'));
    expect({ output, error }).toMatchObject({ output: expect.stringContaining('the agent has started') as string, error: undefined });
    await mount();
    const options = { network: lab.agentNamespace };
    const check = await runInContainer(image, ['check', '--config', '/etc/signalbox/agent.yaml'], options);
    expect(check.output).not.toMatch(/^FAIL/m);
    expect(check).toMatchObject({ code: 0, output: expect.stringContaining('none yet: the first run enrols') as string });
    const container = new RunningContainer(image, options);
    try {
      await waitUntil(
        'the router is listed',
        async () => {
          const { data } = await lab.get<{ data: { identity: string; has_pulse: boolean }[] }>(`${SERVER}/api/routers`, apiKey);
          return data.some(({ identity, has_pulse: hasPulse }) => identity === 'edge' && hasPulse);
        },
        60_000,
      );
      await expect(access(path.join(image.root, 'etc/signalbox/enrol-token.txt'))).rejects.toThrow('ENOENT');
      // RouterOS calls api-ssl so too; there is no other API here.
      const users = (await lab.router.items('/user/active')).map(({ name, address, via }) => `${name} from ${address} by ${via}`);
      expect(new Set(users)).toEqual(new Set(['signalbox-container from 172.31.255.2 by api']));
      expect(await container.stop(), container.output).toBe(0);
    } finally {
      await container.stop();
    }
  },
  180_000,
);
