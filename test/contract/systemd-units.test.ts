import { execFile, execFileSync } from 'node:child_process';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';

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
    const { stdout, stderr } = await promisify(execFile)('systemd-analyze', ['verify', '--man=no', file], { timeout: 20_000 });
    expect((stdout + stderr).split('\n').filter((line) => line.includes(unit))).toEqual([]);
  } finally {
    await rm(folder, { recursive: true });
  }
});

test('the control plane may listen on port 443, where README has the door by name, and may do nothing else of root’s', async () => {
  const lines = (await read('signalbox.service')).split('\n');
  expect(lines).toContain('AmbientCapabilities=CAP_NET_BIND_SERVICE');
  expect(lines).toContain('CapabilityBoundingSet=CAP_NET_BIND_SERVICE');
  expect(lines).toContain('User=signalbox');
});
