import { createHash } from 'node:crypto';
import { once } from 'node:events';
import net from 'node:net';
import path from 'node:path';

/**
 * The folder of this demo, which no other demo uses or removes until this process ends: `.demo`, or `.demo-PORT` while
 * another demo of this checkout runs in `.demo`.
 *
 * The claim is an abstract Unix socket named after the folder. It ends with the process, however that dies, and needs no
 * file in the folder that each start removes.
 * @throws Error when a demo on the same port has claimed the second folder too
 */
export async function claimFolder(root: string, firstPort: number): Promise<string> {
  for (const name of ['.demo', `.demo-${firstPort}`]) {
    const folder = path.join(root, name);
    if (await claim(folder)) return folder;
  }
  throw new Error(`a demo on port ${firstPort} runs in this checkout already`);
}

async function claim(folder: string): Promise<boolean> {
  const name = createHash('sha256').update(folder).digest('hex');
  const server = net.createServer((socket) => socket.destroy());
  server.listen(`\0signalbox-demo-${name}`);
  try {
    await once(server, 'listening');
  } catch {
    return false;
  }
  // The claim alone must not keep the process alive.
  server.unref();
  return true;
}
