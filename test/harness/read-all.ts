import type { Readable } from 'node:stream';

/**
 * Everything until the other side half-closes. Unlike the consumers of node:stream it leaves the writable half of a
 * socket alone.
 */
export function readAll(stream: Readable): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    stream.on('data', (chunk: Buffer) => chunks.push(chunk));
    stream.once('end', () => resolve(Buffer.concat(chunks)));
    stream.once('error', reject);
  });
}
