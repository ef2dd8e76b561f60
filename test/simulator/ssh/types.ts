import type { AuthenticationType, Connection } from 'ssh2';
import type { Session } from '../menu/types.ts';
import type { SimulatedRouter } from '../router.ts';

/** What the SSH server needs of its router. */
export type SshRouter = Pick<
  SimulatedRouter,
  | 'authenticate'
  | 'loggedIn'
  | 'logout'
  | 'log'
  | 'userKeys'
  | 'policiesOf'
  | 'sshSettings'
  | 'verdict'
  | 'resolveHost'
  | 'sessions'
  | 'setting'
  | 'scripts'
  | 'menus'
  | 'files'
  | 'executions'
  | 'faults'
  | 'time'
  | 'version'
  | 'ownSession'
>;

export interface SshServerOptions {
  readonly host: string;
  /** 0 picks a free port. */
  readonly port: number;
  /** Private host key in PEM or OpenSSH form, so that a router keeps its fingerprint. Default: made by `/ip/ssh host-key-type`. */
  readonly hostKey?: string;
  /** Ways to log in that are offered. Default: all three. */
  readonly methods?: readonly AuthenticationType[];
  /** Which algorithms are offered; default by version. `sha1-cbc` is a router of long ago. */
  readonly algorithms?: 'modern' | 'no-curve25519' | 'sha1-cbc';
  /** Targets besides loopback that `direct-tcpip` may really connect to. */
  readonly allowTarget?: (address: string, port: number) => boolean;
}

export interface SshListener {
  readonly port: number;
  /** `SHA256:…` of the host key, as OpenSSH prints it. */
  readonly fingerprint: string;
  /** The private host key in use: pass it to the next server of the same router. */
  readonly hostKey: string;
  close(): Promise<void>;
}

/** One logged-in SSH connection, as its channels see it. */
export interface SshPeer {
  readonly router: SshRouter;
  readonly options: SshServerOptions;
  readonly connection: Connection;
  readonly user: string;
  /** Behind the `+` of the login name: `c` is no colour. */
  readonly terminalFlags: string;
  readonly address: string;
  /** Aborts when the connection ends. */
  readonly signal: AbortSignal;
}

/** The terminal that a client asked for. Its size changes. */
export interface Pty {
  readonly term: string;
  cols: number;
  rows: number;
}

/** A session for one script of a peer; `signal` is that of the channel it runs in. */
export function peerSession(peer: SshPeer, signal: AbortSignal): Session {
  return { user: peer.user, policies: peer.router.policiesOf(peer.user), origin: 'ssh', signal, address: peer.address };
}
