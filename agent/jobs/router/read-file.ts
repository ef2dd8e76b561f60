import { AgentError } from '../../core/errors.ts';
import { wireBytes } from '../../core/wire-text.ts';
import type { Deadline, RouterAdapter } from '../../routers/adapter.ts';

/** Largest chunk of `/file/read`. */
const CHUNK_BYTES = 32_768;

/**
 * Reads a file of the router: by SFTP if SSH is configured; otherwise by `/file/read` (from 7.13), short texts also as the property
 * `contents`. The API does not define how it sends bytes that are not text: a binary file read over it has the right length, but
 * the caller must verify its content.
 * @throws AgentError `unsupported` when this router and configuration cannot provide the file, `not_allowed` above the limit
 */
export async function readRouterFile(
  router: RouterAdapter,
  file: { name: string; isText: boolean },
  deadline: Deadline & { maxBytes: number },
): Promise<Buffer> {
  if (router.hasSsh) {
    try {
      return await router.readFile(file.name, deadline);
    } catch (error) {
      // SFTP needs its own policy; the API may still work.
      if (!router.hasApi || !isRefusal(error)) throw error;
    }
  }
  return readOverApi(router, file, deadline);
}

async function readOverApi(
  router: RouterAdapter,
  { name, isText }: { name: string; isText: boolean },
  deadline: Deadline & { maxBytes: number },
): Promise<Buffer> {
  const words = [`?=name=${name}`, `=.proplist=size${isText ? ',contents' : ''}`];
  const { rows } = await router.command({ path: '/file/print', words }, deadline);
  const [row] = rows;
  if (!row) throw new AgentError('rejected', `${name}: no such file`);
  const size = Number(row['size'] ?? '0');
  if (size > deadline.maxBytes) throw new AgentError('not_allowed', `the file is larger than ${deadline.maxBytes} bytes`);
  const contents = Buffer.from(row['contents'] ?? '', 'utf8');
  if (contents.length === size) return contents;
  return readInChunks(router, { name, size }, deadline);
}

async function readInChunks(router: RouterAdapter, { name, size }: { name: string; size: number }, deadline: Deadline): Promise<Buffer> {
  const chunks: Buffer[] = [];
  for (let offset = 0; offset < size;) {
    const wanted = Math.min(CHUNK_BYTES, size - offset);
    const words = [`=file=${name}`, `=offset=${offset}`, `=chunk-size=${wanted}`];
    const chunk = wireBytes(await readChunk(router, words, deadline), wanted);
    if (chunk.length === 0) break;
    chunks.push(chunk);
    offset += chunk.length;
  }
  const whole = Buffer.concat(chunks);
  if (whole.length !== size)
    throw new AgentError('unsupported', `the API gives ${whole.length} bytes of a file of ${size}; it can be fetched by SSH`);
  return whole;
}

async function readChunk(router: RouterAdapter, words: string[], deadline: Deadline): Promise<string> {
  try {
    const { rows, ret } = await router.command({ path: '/file/read', words }, deadline);
    return rows[0]?.['data'] ?? ret ?? '';
  } catch (error) {
    if (!isRefusal(error)) throw error;
    throw new AgentError('unsupported', 'this file can be fetched by SSH, or by the API from 7.13', { cause: error });
  }
}

function isRefusal(error: unknown): boolean {
  return error instanceof AgentError && error.code === 'rejected';
}
