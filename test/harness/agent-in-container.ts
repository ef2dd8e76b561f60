import { access, stat, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { expect } from 'vitest';
import { AGENT_VERSION } from '../../agent/version.ts';
import { startSimulator } from '../simulator/index.ts';
import { RunningContainer, runInContainer } from './agent-image.ts';
import type { ContainerOptions, UnpackedImage } from './agent-image.ts';
import { waitUntil } from './wait-until.ts';
import { World } from './world.ts';

/** What an agent in a container has to do once: name its version, check its router, enrol by itself, serve, and stop on a signal. */
export async function serveFromContainer(image: UnpackedImage, options: ContainerOptions, timeoutMs: number): Promise<void> {
  const version = { code: 0, output: `signalbox-agent ${AGENT_VERSION}\n` };
  expect(await runInContainer(image, ['--version'], { ...options, offline: true })).toEqual(version);
  const world = await World.start({ routers: [] });
  const login = { username: 'signalbox', password: 'p' };
  const router = await startSimulator({
    apiPort: 0,
    sshPort: 0,
    identity: 'edge',
    users: [{ name: 'signalbox', password: 'p', group: 'full' }],
  });
  const etc = path.join(image.root, 'etc', 'signalbox');
  const config = {
    server: world.server.url,
    credentials: 'credentials.json',
    enrol_token_file: 'enrol-token',
    state: '/var/lib/signalbox-agent',
    routers: [{ name: 'edge', host: '127.0.0.1', api: { port: router.apiPort, ...login }, ssh: { port: router.sshPort, ...login } }],
  };
  let container: RunningContainer | undefined;
  try {
    // JSON is YAML too.
    await writeFile(path.join(etc, 'agent.yaml'), JSON.stringify(config));
    const { token } = await world.server.services.credentials.createEnrolToken({ teamId: world.caller.teamId, siteId: null });
    await writeFile(path.join(etc, 'enrol-token'), token);
    const check = await runInContainer(image, ['check', '--config', '/etc/signalbox/agent.yaml'], options);
    expect(check).toMatchObject({ code: 0, output: expect.stringContaining('none yet: the first run enrols') as string });
    expect(check.output).not.toContain('FAIL');
    container = new RunningContainer(image, options);
    await waitUntil(
      'the router is listed',
      async () => {
        const { body } = await world.caller.call<{ data: { identity: string; has_pulse: boolean }[] }>('GET', '/api/routers');
        return body.data.some(({ identity, has_pulse: hasPulse }) => identity === 'edge' && hasPulse);
      },
      timeoutMs,
    );
    await expect(access(path.join(etc, 'enrol-token'))).rejects.toThrow('ENOENT');
    expect((await stat(path.join(etc, 'credentials.json'))).mode & 0o777).toBe(0o600);
    expect(await container.stop(), container.output).toBe(0);
    container = undefined;
  } finally {
    await container?.stop();
    await router.close();
    await world.close();
  }
}
