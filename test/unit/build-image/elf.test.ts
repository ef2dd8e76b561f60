import { execFileSync } from 'node:child_process';
import { chmodSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import process from 'node:process';
import { expect, test } from 'vitest';
import { readElf, stripElf } from '../../../scripts/build-image/elf.ts';
import { collectLibraries } from '../../../scripts/build-image/libraries.ts';

const program = readFileSync(process.execPath);
const architecture = process.arch === 'arm64' ? 'arm64' : 'amd64';

test('names what a program is made for, its loader and its libraries', () => {
  expect(readElf(program)).toMatchObject({
    architecture,
    interpreter: expect.stringMatching(/^\/lib.*\/ld-linux/) as string,
    needed: expect.arrayContaining(['libc.so.6', 'libstdc++.so.6']) as string[],
  });
});

test('what is left without symbols is smaller, needs the same, and runs', () => {
  const stripped = stripElf(program);
  expect(stripped.length).toBeLessThan(program.length);
  expect(readElf(stripped)).toEqual(readElf(program));
  expect(stripElf(stripped).equals(stripped)).toBe(true);
  const folder = mkdtempSync(path.join(os.tmpdir(), 'signalbox-elf-'));
  try {
    const file = path.join(folder, 'node');
    writeFileSync(file, stripped);
    chmodSync(file, 0o755);
    expect(execFileSync(file, ['--print', '6 * 7'], { encoding: 'utf8', timeout: 20_000 })).toBe('42\n');
  } finally {
    rmSync(folder, { recursive: true });
  }
});

test.each([
  ['nothing', Buffer.alloc(0)],
  ['a script', Buffer.from('#!/bin/sh\n'.padEnd(100))],
  ['a 32-bit program', Buffer.from(`\u007fELF\u0001\u0001${' '.repeat(100)}`, 'latin1')],
])('refuses %s', (_what, contents) => {
  expect(() => readElf(contents)).toThrow('not a 64-bit little-endian ELF file');
});

test('libraries that are not there, or are for another processor, are named', () => {
  expect(() => collectLibraries(program, architecture, '/nowhere')).toThrow(/^\/nowhere\/lib.*ld-linux.* is missing$/);
  expect(() => collectLibraries(program, architecture === 'amd64' ? 'arm64' : 'amd64', '/')).toThrow(/is missing$/);
});
