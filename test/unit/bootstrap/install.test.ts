import { chmod, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { spawn } from 'node:child_process';
import os from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';

const module = fileURLToPath(new URL('../../../scripts/bootstrap/install.mjs', import.meta.url));
let folder: string;

beforeEach(async () => {
  folder = await mkdtemp(path.join(os.tmpdir(), 'signalbox-install-'));
  const packages = { '': {}, 'node_modules/a': {}, 'node_modules/b': {}, 'node_modules/c': { os: ['win32'] } };
  await writeFile(path.join(folder, 'package-lock.json'), JSON.stringify({ packages }));
});
afterEach(() => rm(folder, { recursive: true }));

/** Runs the installation with an `npm` that prints these lines. */
async function install(lines: string[], exitCode: number): Promise<{ code: number; output: string }> {
  const npm = path.join(folder, 'npm');
  await writeFile(npm, `#!/bin/sh\ncat >&2 <<'END'\n${lines.join('\n')}\nEND\nexit ${exitCode}\n`);
  await chmod(npm, 0o755);
  const script = `import { installPackages } from ${JSON.stringify(module)}; process.exitCode = await installPackages(${JSON.stringify(folder)});`;
  const child = spawn(process.execPath, ['--input-type=module', '-e', script], {
    env: { ...process.env, PATH: `${folder}${path.delimiter}${process.env['PATH'] ?? ''}` },
  });
  let output = '';
  child.stderr.on('data', (chunk: Buffer) => (output += chunk.toString()));
  const code = await new Promise<number>((resolve) => {
    child.on('close', (status) => resolve(status ?? 1));
  });
  return { code, output };
}

describe('the installation at the first start', () => {
  test('says how many packages there are for this system and when it is done', async () => {
    const { code, output } = await install(['npm http fetch GET 200 https://packages.example/a.tgz 12ms (cache miss)'], 0);
    expect(code).toBe(0);
    expect(output).toContain('Installing 2 packages');
    expect(output).toMatch(/Installed in \d+ s\./);
  });

  test.each(['EAI_AGAIN', 'ENOTFOUND', 'ECONNREFUSED', 'ETIMEDOUT'])('says in one line that there is no network (%s)', async (reason) => {
    const lines = [
      `npm http fetch GET https://packages.example/a attempt 1 failed with ${reason}`,
      `npm http fetch GET https://packages.example/b attempt 1 failed with ${reason}`,
      `npm error code ${reason}`,
      'npm error a long stack',
    ];
    const { code, output } = await install(lines, 1);
    expect(code).toBe(1);
    expect(output.match(/trying again/g)).toHaveLength(1);
    expect(output).toContain(`No network: the npm registry cannot be reached (${reason}).`);
    expect(output).not.toContain('stack');
  });

  test("prints npm's own errors for every other failure", async () => {
    const { code, output } = await install(['npm error code EUSAGE', 'npm error the lock file is out of sync'], 1);
    expect(code).toBe(1);
    expect(output).toContain('npm ci failed (EUSAGE):\n  the lock file is out of sync');
  });
});
