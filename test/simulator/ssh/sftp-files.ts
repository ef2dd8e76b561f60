import { posix } from 'node:path';
import ssh2, { type Attributes, type FileEntry } from 'ssh2';
import { Trap } from '../menu/types.ts';
import type { SshPeer } from './types.ts';

const { STATUS_CODE, OPEN_MODE } = ssh2.utils.sftp;

/** Largest file kept in memory while it is written. */
const maxFile = 64 * 1024 * 1024;
/** `ls -l` on a router is not reliable: it counts blocks. Only `stat` and reading tell a size. */
const blockSize = 4096;

/** A refused request: the status the client gets. */
export class SftpFailure extends Error {
  readonly code: number;

  constructor(code: number, message: string) {
    super(message);
    this.name = 'SftpFailure';
    this.code = code;
  }
}

const notFound = (): SftpFailure => new SftpFailure(STATUS_CODE.NO_SUCH_FILE, 'No such file');
const denied = (): SftpFailure => new SftpFailure(STATUS_CODE.PERMISSION_DENIED, 'Permission denied');
const failure = (message: string): SftpFailure => new SftpFailure(STATUS_CODE.FAILURE, message);

/** An open file: contents to read, or a growing copy that is stored when it is closed. */
export interface OpenFile {
  readonly kind: 'file';
  readonly name: string;
  contents: Buffer;
  /** Bytes of `contents` in use: it grows in larger steps than its writes. */
  length: number;
  readonly writable: boolean;
}

export interface OpenDirectory {
  readonly kind: 'directory';
  entries: FileEntry[];
}

/** `/flash/a.txt` and `flash/a.txt` are the same; the root is ''. */
export function fileName(path: string): string {
  return posix.resolve('/', path).slice(1);
}

export function openFile(peer: SshPeer, path: string, flags: number): OpenFile {
  const { files } = peer.router;
  const name = fileName(path);
  const known = files.get(name);
  if (known?.directory === true || name === '') throw failure('Is a directory');
  const writable = (flags & OPEN_MODE.WRITE) !== 0;
  if (!writable) {
    if (known === undefined) throw notFound();
    if (name.endsWith('.backup') && !peer.router.policiesOf(peer.user).has('sensitive')) throw denied();
    return { kind: 'file', name, contents: known.contents, length: known.contents.length, writable };
  }
  if (known === undefined && (flags & OPEN_MODE.CREAT) === 0) throw notFound();
  if (known !== undefined && (flags & OPEN_MODE.EXCL) !== 0) throw failure('File exists');
  const contents = (flags & OPEN_MODE.TRUNC) === 0 ? Buffer.from(known?.contents ?? '') : Buffer.alloc(0);
  return { kind: 'file', name, contents, length: contents.length, writable };
}

/** Writes into the open copy, growing it by doubling so that many small writes stay cheap. */
export function writeAt(file: OpenFile, offset: number, data: Buffer): void {
  if (!file.writable) throw denied();
  const end = offset + data.length;
  if (end > maxFile) throw failure('File too large');
  if (end > file.contents.length) {
    const grown = Buffer.alloc(Math.min(maxFile, Math.max(end, file.contents.length * 2)));
    file.contents.copy(grown, 0, 0, file.length);
    file.contents = grown;
  }
  data.copy(file.contents, offset);
  file.length = Math.max(file.length, end);
}

/** The bytes at an offset; undefined at the end of the file. */
export function readAt(file: OpenFile, offset: number, length: number): Buffer | undefined {
  if (offset >= file.length) return undefined;
  // A client may ask for any length; an answer fits one packet.
  return file.contents.subarray(offset, Math.min(file.length, offset + Math.min(length, 32_768)));
}

/** Puts a written file into the router's store. A full disk is an SFTP failure, not an exception. */
export function storeFile(peer: SshPeer, file: OpenFile): void {
  try {
    peer.router.files.write(file.name, file.contents.subarray(0, file.length));
  } catch (error) {
    if (error instanceof Trap) throw failure(error.message);
    throw error;
  }
}

/** Attributes of a path. Folders exist by being part of a name. Throws SftpFailure when there is no such thing. */
export function attributesOf(peer: SshPeer, path: string): Attributes {
  const { files } = peer.router;
  const name = fileName(path);
  const known = files.get(name);
  if (known !== undefined && !known.directory) return attributes(0o100_644, known.contents.length, known.modifiedAt);
  const isFolder = name === '' || known !== undefined || files.list().some((file) => file.name.startsWith(`${name}/`));
  if (!isFolder) throw notFound();
  return attributes(0o040_755, 0, known?.modifiedAt ?? 0);
}

export function attributes(mode: number, size: number, modifiedMs: number): Attributes {
  const seconds = Math.floor(modifiedMs / 1000);
  return { mode, uid: 0, gid: 0, size, atime: seconds, mtime: seconds };
}

/** Entries of a folder, as `ls` shows them. */
export function listDirectory(peer: SshPeer, path: string): OpenDirectory {
  const { mode } = attributesOf(peer, path);
  if ((mode & 0o040_000) === 0) throw failure('Not a directory');
  const name = fileName(path);
  const start = name === '' ? '' : `${name}/`;
  const names = peer.router.files
    .list()
    .map((file) => file.name)
    .filter((full) => full.startsWith(start) && full !== name)
    .map((full) => full.slice(start.length).split('/')[0] ?? '');
  const entries = [...new Set(names)].filter((entry) => entry !== '').map((entry) => directoryEntry(peer, start, entry));
  return { kind: 'directory', entries };
}

function directoryEntry(peer: SshPeer, start: string, entry: string): FileEntry {
  const attrs = attributesOf(peer, `${start}${entry}`);
  const size = Math.ceil(attrs.size / blockSize) * blockSize;
  const isFolder = (attrs.mode & 0o040_000) !== 0;
  const date = new Date(attrs.mtime * 1000).toUTCString().slice(5, 22);
  const longname = `${isFolder ? 'drwxr-xr-x' : '-rw-r--r--'} 1 root root ${String(size).padStart(9)} ${date} ${entry}`;
  return { filename: entry, longname, attrs: { ...attrs, size } };
}

export function removeFile(peer: SshPeer, path: string): void {
  if (!peer.router.files.remove(fileName(path))) throw notFound();
}

export function renameFile(peer: SshPeer, from: string, to: string): void {
  if (peer.router.files.get(fileName(to)) !== undefined) throw failure('File exists');
  if (!peer.router.files.rename(fileName(from), fileName(to))) throw notFound();
}

export function makeDirectory(peer: SshPeer, path: string): void {
  if (peer.router.files.get(fileName(path)) !== undefined) throw failure('File exists');
  peer.router.files.makeDirectory(fileName(path));
}
