import process from 'node:process';
import v8 from 'node:v8';
import vm from 'node:vm';
import type { SFTPWrapper } from 'ssh2';
import { expect, test } from 'vitest';
import { readWholeFile } from '../../../agent/routers/ssh/sftp.ts';

type Done = (error: Error | undefined, value?: unknown) => void;

/** A router's SFTP that gives `content` and says it is `size` bytes; at most `most` of them in one answer. */
function router({ content, size, most = 32_768 }: { content: Buffer; size: number; most?: number }): SFTPWrapper {
  const endOfFile = Object.assign(new Error('end of file'), { code: 1 });
  return {
    open: (_name: string, _mode: string, done: Done) => done(undefined, Buffer.of(1)),
    read: (_handle: Buffer, into: Buffer, _offset: number, length: number, position: number, done: Done) => {
      const part = content.subarray(position, position + Math.min(length, most));
      part.copy(into);
      done(part.length === 0 ? endOfFile : undefined, part.length);
    },
    fstat: (_handle: Buffer, done: Done) => done(undefined, { size }),
    close: (_handle: Buffer, done: Done) => done(undefined),
  } as unknown as SFTPWrapper;
}

const CONTENT = Buffer.from('0123456789'.repeat(10_000));

test('a file is complete when it has the size that the router reports, however short the answers are', async () => {
  expect(await readWholeFile(router({ content: CONTENT, size: CONTENT.length, most: 1000 }), 'x.backup', 1e6)).toEqual(CONTENT);
});

test.each([CONTENT.length + 1, 0])('one that should be %i bytes long is still being written', async (size) => {
  await expect(readWholeFile(router({ content: CONTENT, size }), 'x.backup', 1e6)).rejects.toMatchObject({
    code: 'rejected',
    message: expect.stringContaining('still being written'),
  });
});

test('a file sent in single bytes takes little more memory than its size', async () => {
  v8.setFlagsFromString('--expose-gc');
  const collectGarbage = vm.runInNewContext('gc') as () => void;
  const content = CONTENT.subarray(0, 2000);
  const held = (): number => {
    // What one collection finds unused, the next gives back.
    for (let round = 0; round < 3; round += 1) collectGarbage();
    return process.memoryUsage().arrayBuffers;
  };
  const sftp = router({ content, size: content.length, most: 1 });
  const before = held();
  let after = 0;
  // Asked last, while all that was read is still in parts.
  const read = sftp.read.bind(sftp);
  Object.assign(sftp, {
    read: (...words: Parameters<typeof read>) => {
      if (words[4] === content.length) after = held();
      read(...words);
    },
  });
  expect(await readWholeFile(sftp, 'x.backup', 1e6)).toEqual(content);
  // A buffer of 32 KB for each byte would be 65 MB.
  expect(after - before).toBeLessThan(5_000_000);
});
