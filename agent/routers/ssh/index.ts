export { connectSsh, type SshOptions } from './connect.ts';
export { hostKeyFile, type HostKeyPolicy } from './host-key.ts';
export type { ExecOutput } from './exec-output.ts';
export type { SshSession } from './session.ts';
export { isMissingFile } from './sftp.ts';
