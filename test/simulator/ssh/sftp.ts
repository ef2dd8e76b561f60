import ssh2, { type SFTPWrapper } from 'ssh2';
import {
  attributes,
  attributesOf,
  fileName,
  listDirectory,
  makeDirectory,
  openFile,
  readAt,
  removeFile,
  renameFile,
  SftpFailure,
  storeFile,
  writeAt,
  type OpenDirectory,
  type OpenFile,
} from './sftp-files.ts';
import type { SshPeer } from './types.ts';

const { STATUS_CODE } = ssh2.utils.sftp;

/** Files and folders one client may have open. */
const maxHandles = 64;
/** Names in one answer to READDIR, so that it fits a packet. */
const namesPerReply = 100;

/** Serves the router's file store on an SFTP channel. */
export function serveSftp(peer: SshPeer, sftp: SFTPWrapper): void {
  const handles = new HandleTable();
  const reply = createReplies(sftp);
  sftp.on('error', () => sftp.end());
  // The client is done; ssh2 leaves it to us to close our side.
  sftp.once('end', () => sftp.end());
  sftp.on('OPEN', (id: number, path: string, flags: number) =>
    reply(id, () => {
      const file = openFile(peer, path, flags);
      if (file.writable) storeFile(peer, file);
      sftp.handle(id, handles.add(file));
    }),
  );
  sftp.on('READ', (id: number, handle: Buffer, offset: number, length: number) =>
    reply(id, () => {
      const data = readAt(handles.file(handle), offset, length);
      if (data === undefined) sftp.status(id, STATUS_CODE.EOF);
      else sftp.data(id, data);
    }),
  );
  sftp.on('WRITE', (id: number, handle: Buffer, offset: number, data: Buffer) =>
    reply(id, () => {
      writeAt(handles.file(handle), offset, data);
      sftp.status(id, STATUS_CODE.OK);
    }),
  );
  sftp.on('CLOSE', (id: number, handle: Buffer) =>
    reply(id, () => {
      closeHandle(peer, handles.take(handle));
      sftp.status(id, STATUS_CODE.OK);
    }),
  );
  sftp.on('FSTAT', (id: number, handle: Buffer) =>
    reply(id, () => {
      const { name, length } = handles.file(handle);
      sftp.attrs(id, { ...attributesOf(peer, name), size: length });
    }),
  );
  sftp.on('OPENDIR', (id: number, path: string) => reply(id, () => sftp.handle(id, handles.add(listDirectory(peer, path)))));
  sftp.on('READDIR', (id: number, handle: Buffer) =>
    reply(id, () => {
      const names = handles.directory(handle).entries.splice(0, namesPerReply);
      if (names.length === 0) sftp.status(id, STATUS_CODE.EOF);
      else sftp.name(id, names);
    }),
  );
  servePaths(peer, sftp, reply);
  // What a client that vanished had written so far stays, as on any disk; it is not run.
  sftp.once('close', () => {
    for (const open of handles.takeAll()) if (open.kind === 'file' && open.writable) reply(-1, () => storeFile(peer, open));
  });
}

type Reply = (id: number, answer: () => void) => void;

/** Turns a refusal into its status. Nothing may be thrown out of a channel's event. */
function createReplies(sftp: SFTPWrapper): Reply {
  return (id, answer) => {
    try {
      answer();
    } catch (error) {
      const refusal = error instanceof SftpFailure ? error : new SftpFailure(STATUS_CODE.FAILURE, String(error));
      if (id >= 0) sftp.status(id, refusal.code, refusal.message);
    }
  };
}

function servePaths(peer: SshPeer, sftp: SFTPWrapper, reply: Reply): void {
  const stat = (id: number, path: string): void => reply(id, () => sftp.attrs(id, attributesOf(peer, path)));
  const done = (id: number, act: () => void): void =>
    reply(id, () => {
      act();
      sftp.status(id, STATUS_CODE.OK);
    });
  sftp.on('STAT', stat);
  sftp.on('LSTAT', stat);
  sftp.on('REALPATH', (id: number, path: string) =>
    reply(id, () => {
      const filename = `/${fileName(path)}`;
      sftp.name(id, [{ filename, longname: filename, attrs: attributes(0o040_755, 0, 0) }]);
    }),
  );
  sftp.on('REMOVE', (id: number, path: string) => done(id, () => removeFile(peer, path)));
  sftp.on('RMDIR', (id: number, path: string) => done(id, () => removeFile(peer, path)));
  sftp.on('MKDIR', (id: number, path: string) => done(id, () => makeDirectory(peer, path)));
  sftp.on('RENAME', (id: number, from: string, to: string) => done(id, () => renameFile(peer, from, to)));
  // OpenSSH sets times and modes after a put; a router has neither and does not mind.
  sftp.on('SETSTAT', (id: number) => sftp.status(id, STATUS_CODE.OK));
  sftp.on('FSETSTAT', (id: number) => sftp.status(id, STATUS_CODE.OK));
}

function closeHandle(peer: SshPeer, open: OpenFile | OpenDirectory): void {
  if (open.kind === 'directory' || !open.writable) return;
  storeFile(peer, open);
  if (open.name.endsWith('.auto.rsc')) void runUploaded(peer, open);
}

/** `x.auto.rsc` is executed on arrival, by the user who sent it; what it prints is kept in `x.auto.log`. */
async function runUploaded(peer: SshPeer, file: OpenFile): Promise<void> {
  const { router, user } = peer;
  const source = file.contents.toString('utf8', 0, file.length);
  const session = router.ownSession({ user, policies: router.policiesOf(user), origin: 'script' });
  const record = router.executions.begin({ kind: 'import', name: file.name, source, user });
  let output = '';
  try {
    const result = await router.scripts.run(source, session, (text) => {
      if (output.length < 65_536) output += text;
    });
    record.end(result.error === undefined ? 'ok' : 'error', result.error);
    router.files.write(file.name.replace(/\.rsc$/, '.log'), output);
  } catch (error) {
    record.end('error', String(error));
  } finally {
    session.end();
  }
}

/** Open files and folders of one client, by number. */
class HandleTable {
  private readonly open = new Map<number, OpenFile | OpenDirectory>();
  private next = 0;

  add(entry: OpenFile | OpenDirectory): Buffer {
    if (this.open.size >= maxHandles) throw new SftpFailure(STATUS_CODE.FAILURE, 'Too many open files');
    const handle = Buffer.alloc(4);
    handle.writeUInt32BE(this.next);
    this.open.set(this.next, entry);
    this.next += 1;
    return handle;
  }

  file(handle: Buffer): OpenFile {
    const entry = this.entry(handle);
    if (entry.kind !== 'file') throw new SftpFailure(STATUS_CODE.FAILURE, 'Not a file');
    return entry;
  }

  directory(handle: Buffer): OpenDirectory {
    const entry = this.entry(handle);
    if (entry.kind !== 'directory') throw new SftpFailure(STATUS_CODE.FAILURE, 'Not a directory');
    return entry;
  }

  take(handle: Buffer): OpenFile | OpenDirectory {
    const entry = this.entry(handle);
    this.open.delete(handle.readUInt32BE());
    return entry;
  }

  takeAll(): (OpenFile | OpenDirectory)[] {
    const all = [...this.open.values()];
    this.open.clear();
    return all;
  }

  private entry(handle: Buffer): OpenFile | OpenDirectory {
    const entry = handle.length === 4 ? this.open.get(handle.readUInt32BE()) : undefined;
    if (entry === undefined) throw new SftpFailure(STATUS_CODE.FAILURE, 'Invalid handle');
    return entry;
  }
}
