import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, readlinkSync, rmSync, statSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { FIXED_MTIME, tar } from '../../../scripts/build-image/tar.ts';

let folder: string;

beforeEach(() => {
  folder = mkdtempSync(path.join(os.tmpdir(), 'signalbox-tar-'));
});

afterEach(() => rmSync(folder, { recursive: true, force: true }));

/** As the system's tar reads it. */
function unpack(archive: Buffer): string {
  writeFileSync(path.join(folder, 'a.tar'), archive);
  return execFileSync('tar', ['-xvpf', 'a.tar'], { cwd: folder, encoding: 'utf8' });
}

describe('an archive', () => {
  test('is read back by the system’s tar: contents, permissions, times, folders and links', () => {
    const sizes = [0, 1, 511, 512, 513, 100_000];
    const files = sizes.map((size) => ({ path: `sub/${size}`, mode: 0o640, contents: Buffer.alloc(size, size % 251) }));
    unpack(tar([{ path: 'sub/', mode: 0o755 }, { path: 'tmp/', mode: 0o1777 }, { path: 'sub/link', mode: 0o777, link: '513' }, ...files]));
    for (const { path: name, contents } of files) expect(readFileSync(path.join(folder, name)).equals(contents), name).toBe(true);
    const { mode, mtimeMs } = statSync(path.join(folder, 'sub', '513'));
    expect([mode & 0o7777, mtimeMs]).toEqual([0o640, FIXED_MTIME * 1000]);
    expect(statSync(path.join(folder, 'tmp')).mode & 0o7777).toBe(0o1777);
    expect(readlinkSync(path.join(folder, 'sub', 'link'))).toBe('513');
  });

  test('does not depend on the order of its entries', () => {
    const entries = ['b', 'a', 'c/', 'c/d'].map((name) =>
      name.endsWith('/') ? { path: name, mode: 0o755 } : { path: name, mode: 0o644, contents: Buffer.from(name) },
    );
    expect(tar(entries).equals(tar(entries.toReversed()))).toBe(true);
    expect(unpack(tar(entries))).toBe('a\nb\nc/\nc/d\n');
  });

  test.each([
    ['a name of more than 100 bytes', [{ path: 'é'.repeat(51), mode: 0o644, contents: Buffer.alloc(0) }], /^too long for a tar archive: é/],
    [
      'a name that is there twice',
      [
        { path: 'a', mode: 0o644, contents: Buffer.alloc(0) },
        { path: 'a', mode: 0o644, contents: Buffer.alloc(1) },
      ],
      /^twice in the archive: a$/,
    ],
    ['a file without contents', [{ path: 'a', mode: 0o644 }], /^a file without contents: a$/],
  ])('refuses %s', (_what, entries, reason) => {
    expect(() => tar(entries)).toThrow(reason);
  });
});
