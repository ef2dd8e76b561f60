/**
 * A client nobody here wrote: Debian's python3-librouteros against the stand-in, both personalities, whole replies and
 * replies cut at every byte. Skipped, and said so, where the package is not installed.
 */
import { execFile, execFileSync } from 'node:child_process';
import path from 'node:path';
import { promisify } from 'node:util';
import { afterEach, describe, expect, it } from 'vitest';
import { startSimulator, type Simulator } from '../simulator/index.ts';

const PYTHON = '/usr/bin/python3';
const run = promisify(execFile);

function isInstalled(): boolean {
  try {
    execFileSync(PYTHON, ['-c', 'import librouteros'], { stdio: 'ignore' });
    return true;
  } catch {
    process.stdout.write('SKIPPED: librouteros tests need the Debian package python3-librouteros\n');
    return false;
  }
}

let simulator: Simulator | undefined;
afterEach(() => simulator?.close());

describe.skipIf(!isInstalled())('python3-librouteros is satisfied', () => {
  it.each([
    ['7.18.2', 'plain', false],
    ['7.18.2', 'plain', true],
    ['6.49.18', 'plain', false],
    ['6.49.18', 'plain', true],
    ['6.42.12', 'token', false],
  ] as const)('with RouterOS %s, %s login, bytes split: %s', async (version, login, splitEveryByte) => {
    simulator = await startSimulator({
      version,
      splitEveryByte,
      model: 'hEX',
      identity: 'láb',
      sshPort: null,
      users: [{ name: 'admin', password: 'secret' }],
    });
    const script = path.join(import.meta.dirname, 'librouteros_check.py');
    const major = version.split('.')[0] ?? '';
    const { stdout } = await run(PYTHON, [script, String(simulator.apiPort), login, major], { timeout: 60_000 });
    expect(stdout.trim().split('\n').at(-1)).toBe('ok quit');
  });
});
