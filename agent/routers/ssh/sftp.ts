import { promisify } from 'node:util';
import type { SFTPWrapper, Stats } from 'ssh2';
import { toError } from '../../core/deadline.ts';
import { AgentError } from '../../core/errors.ts';

/** Size of one read, which every SFTP server supports. */
const CHUNK_BYTES = 32 * 1024;

/** SSH_FXP_STATUS codes. */
const EOF = 1;
const NO_SUCH_FILE = 2;
const MEANINGS: Readonly<Record<number, string>> = {
  [NO_SUCH_FILE]: 'no such file',
  3: 'permission denied: the user needs the policies ftp and, for backups, sensitive',
};

function statusOf(error: unknown): number | undefined {
  const code: unknown = error instanceof Error && 'code' in error ? error.code : undefined;
  return typeof code === 'number' ? code : undefined;
}

function refusal(name: string, error: unknown): AgentError {
  if (error instanceof AgentError) return error;
  const status = statusOf(error);
  const text = (status === undefined ? undefined : MEANINGS[status]) ?? toError(error).message;
  return new AgentError(status === undefined ? 'outcome_unknown' : 'rejected', `${name}: ${text}`, { cause: error });
}

/** True when SFTP works but the file does not exist. */
export function isMissingFile(error: unknown): boolean {
  return error instanceof AgentError && statusOf(error.cause) === NO_SUCH_FILE;
}

/**
 * Reads a file to its end and compares its length with the size that the router reports: flash is written late, and a file that is
 * read too early is short.
 * @throws AgentError `rejected` (no such file, no permission, lengths differ), `not_allowed` (larger than `maxBytes`)
 */
export async function readWholeFile(sftp: SFTPWrapper, name: string, maxBytes: number): Promise<Buffer> {
  try {
    const handle = await promisify<string, string, Buffer>(sftp.open.bind(sftp) as never)(name, 'r');
    const content = await readToEnd(sftp, handle, maxBytes);
    const { size } = await promisify<Buffer, Stats>(sftp.fstat.bind(sftp))(handle);
    if (size !== content.length) {
      throw new AgentError('rejected', `read ${content.length} bytes of a file of ${size}: it is still being written`);
    }
    await promisify<Buffer>(sftp.close.bind(sftp))(handle);
    return content;
  } catch (error) {
    throw refusal(name, error);
  }
}

async function readToEnd(sftp: SFTPWrapper, handle: Buffer, maxBytes: number): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let total = 0;
  for (;;) {
    const chunk = await readChunk(sftp, handle, total);
    if (chunk.length === 0) return Buffer.concat(chunks);
    chunks.push(chunk);
    total += chunk.length;
    if (total > maxBytes) throw new AgentError('not_allowed', `the file is larger than ${maxBytes} bytes`);
  }
}

/** Reads one chunk; empty at the end of the file. */
function readChunk(sftp: SFTPWrapper, handle: Buffer, position: number): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    const buffer = Buffer.alloc(CHUNK_BYTES);
    sftp.read(handle, buffer, 0, CHUNK_BYTES, position, (error: Error | undefined, bytesRead) => {
      if (!error) resolve(kept(buffer, bytesRead));
      else if (statusOf(error) === EOF) resolve(Buffer.alloc(0));
      else reject(error);
    });
  });
}

/** Copies a short answer: a file sent in single bytes would keep a whole buffer for each. */
function kept(buffer: Buffer, bytes: number): Buffer {
  const read = buffer.subarray(0, bytes);
  return bytes < CHUNK_BYTES ? Buffer.from(read) : read;
}
