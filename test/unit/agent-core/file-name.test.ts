import { mkdtemp, rm } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { ForwardingMemory } from '../../../agent/forward/forwarding-memory.ts';
import { checkHostKey, hostKeyFile } from '../../../agent/routers/ssh/host-key.ts';

/** Names of routers may have 64 letters of any script, and a file 255 bytes. */

let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(path.join(os.tmpdir(), 'signalbox-names-'));
});
afterEach(() => rm(folder, { recursive: true }));

const LONG = '北京'.repeat(32);

test('the host key of a router with a long name is recorded separately from that of another', async () => {
  const key = Buffer.from('one');
  expect(await checkHostKey(key, hostKeyFile(folder, LONG))).toBeUndefined();
  expect(await checkHostKey(Buffer.from('two'), hostKeyFile(folder, LONG))).toContain('has changed');
  expect(await checkHostKey(Buffer.from('two'), hostKeyFile(folder, `${LONG.slice(0, -1)}南`))).toBeUndefined();
});

test('a name that fits keeps its file', () => {
  expect(hostKeyFile('/s', 'Zürich 1').file).toBe('/s/host-keys/Z%C3%BCrich%201.hostkey');
  expect(path.basename(hostKeyFile('/s', 'ü'.repeat(35)).file)).toBe(`${'%C3%BC'.repeat(35)}.hostkey`);
});

test('the value to restore on a router with a long name is stored for this router only', async () => {
  const memory = new ForwardingMemory(folder);
  const device = { router: LONG, hardwareId: '%'.repeat(128) };
  await memory.write(device, { previous: 'no', set: 'local' });
  expect(await memory.read(device)).toMatchObject({ previous: 'no' });
  expect(await memory.read({ ...device, router: `${LONG.slice(0, -1)}南` })).toBeUndefined();
  await memory.forget(device);
  expect(await memory.read(device)).toBeUndefined();
});
