import { execFile, execFileSync } from 'node:child_process';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { describe, expect, test } from 'vitest';
import { longestStopMs } from '../../server/cli/serve.ts';
import { checkConfig, loadConfig } from '../../server/config.ts';
import { configurationWarnings } from '../../server/config-warnings.ts';

/** The units for systemd, as people copy them. */

const read = (unit: string): Promise<string> => readFile(new URL(`../../systemd/${unit}`, import.meta.url), 'utf8');

function hasSystemd(): boolean {
  try {
    execFileSync('systemd-analyze', ['--version'], { stdio: 'ignore' });
    return true;
  } catch {
    return false;
  }
}

test.skipIf(!hasSystemd()).each(['signalbox.service', 'signalbox-agent.service'])('systemd finds nothing wrong with %s', async (unit) => {
  const folder = await mkdtemp(path.join(os.tmpdir(), 'signalbox-units-'));
  try {
    const file = path.join(folder, unit);
    // Its program and its user are not on this machine.
    await writeFile(file, (await read(unit)).replace(/^ExecStart=.*$/m, 'ExecStart=/bin/true').replace(/^User=.*$/m, 'User=daemon'));
    const { stdout, stderr } = await promisify(execFile)('systemd-analyze', ['verify', '--man=no', file], { timeout: 120_000 });
    expect((stdout + stderr).split('\n').filter((line) => line.includes(unit))).toEqual([]);
  } finally {
    await rm(folder, { recursive: true });
  }
});

test('the control plane may listen on port 443, where docs/forwards.md has forwards by name, and nothing else that needs root', async () => {
  const lines = (await read('signalbox.service')).split('\n');
  expect(lines).toContain('AmbientCapabilities=CAP_NET_BIND_SERVICE');
  expect(lines).toContain('CapabilityBoundingSet=CAP_NET_BIND_SERVICE');
  expect(lines).toContain('User=signalbox');
});

test('systemd gives the control plane more time to stop than it ever takes', async () => {
  const cluster = {
    SIGNALBOX_DATABASE_URL: 'postgres://localhost/signalbox',
    SIGNALBOX_BUS_URL: 'nats://localhost',
    SIGNALBOX_NODE_PUBLIC_URL: 'https://node-1.example.net',
    SIGNALBOX_DRAIN_SECONDS: '300',
  };
  const seconds = Number(/^TimeoutStopSec=(\d+)$/m.exec(await read('signalbox.service'))?.[1]);
  expect(seconds * 1000).toBeGreaterThan(longestStopMs(checkConfig(cluster)));
});

test.skipIf(!hasSystemd()).each(['signalbox.service', 'signalbox-agent.service'])('%s is exposed by less than 3 of 10', async (unit) => {
  const file = fileURLToPath(new URL(`../../systemd/${unit}`, import.meta.url));
  const { stdout } = await promisify(execFile)('systemd-analyze', ['security', '--offline=true', '--no-pager', file], { timeout: 120_000 });
  const exposure = Number(/Overall exposure level for \S+: ([\d.]+)/.exec(stdout)?.[1]);
  expect(exposure).toBeLessThan(3);
});

describe('the example of the settings file', () => {
  const example = (): Promise<string> => read('server.env.example');

  test('holds only lines that systemd reads as they are meant', async () => {
    for (const line of (await example()).split('\n')) expect(line).toMatch(/^(?:|#.*|SIGNALBOX_[A-Z_]+=\S*)$/);
  });

  test('is a configuration that the control plane takes without a doubt', async () => {
    const lines = (await example()).split('\n').filter((line) => line.startsWith('SIGNALBOX_'));
    const env = Object.fromEntries(lines.map((line) => [line.slice(0, line.indexOf('=')), line.slice(line.indexOf('=') + 1)]));
    expect(configurationWarnings(await loadConfig(env))).toEqual([]);
  });

  test('means the same to a shell', async () => {
    const { stdout } = await promisify(execFile)('sh', [
      '-c',
      `set -a; . ${fileURLToPath(new URL('../../systemd/server.env.example', import.meta.url))}; env`,
    ]);
    for (const line of (await example()).split('\n')) if (line.startsWith('SIGNALBOX_')) expect(stdout.split('\n')).toContain(line);
  });
});
