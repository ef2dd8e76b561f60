import { spawn } from 'node:child_process';
import { once } from 'node:events';
import fs from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';
import process from 'node:process';
import { expect, test, vi } from 'vitest';
import { identifyProcess, isGone } from '../../../server/platform/nodes/process-identity.ts';

const own = identifyProcess()!;
const [boot, namespace, pid, start] = own.split(' ') as [string, string, string, string];

test('a process that runs is not gone', () => {
  expect(isGone(own)).toBe(false);
});

test('a process that has ended is gone, also before its parent has heard of it', async () => {
  const child = spawn(process.execPath, ['-e', 'setInterval(() => {}, 1000)']);
  await once(child, 'spawn');
  const identity = identifyProcess(child.pid)!;
  expect(isGone(identity)).toBe(false);
  child.kill('SIGKILL');
  await once(child, 'exit');
  expect(identifyProcess(child.pid)).toBeUndefined();
  expect(isGone(identity)).toBe(true);
});

test('a process that another user hides is not gone', () => {
  // Process 1 belongs to somebody else for everybody but root, whose /proc says that it is another process.
  const hidden = [boot, namespace, 1, '-1'].join(' ');
  const answers = vi.spyOn(fs, 'readFileSync').mockImplementation((file) => {
    if (file === '/proc/1/stat') throw Object.assign(new Error('no such file'), { code: 'ENOENT' });
    return file === '/proc/sys/kernel/random/boot_id' ? boot : `1 (node) S ${'0 '.repeat(18)}${start}`;
  });
  syncBuiltinESMExports();
  try {
    expect(isGone(hidden)).toBe(false);
  } finally {
    answers.mockRestore();
    syncBuiltinESMExports();
  }
});

test.each<[string, string | null, boolean]>([
  ['another process has its PID now', [boot, namespace, pid, Number(start) - 1].join(' '), true],
  ['it ran before the machine started again', ['00000000-0000-0000-0000-000000000000', namespace, pid, start].join(' '), false],
  ['it runs in another container', [boot, 'pid:[1]', pid, start].join(' '), false],
  ['its machine did not say', null, false],
  ['it is not understood', 'what', false],
])('%s', (_case, identity, expected) => {
  expect(isGone(identity)).toBe(expected);
});
