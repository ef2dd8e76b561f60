import type { Socket } from 'node:net';
import ssh2, { type Connection, type ServerChannel, type Session as SshSession } from 'ssh2';
import type { ClientSession } from '../sessions.ts';
import { algorithmsOf } from './algorithms.ts';
import { LoginGate } from './auth.ts';
import { runExec } from './exec.ts';
import { allowsLocalForward, openForward } from './forward.ts';
import { serveSftp } from './sftp.ts';
import { runShell } from './shell.ts';
import { runTerminal } from './terminal.ts';
import type { Pty, SshPeer, SshRouter, SshServerOptions } from './types.ts';

/** A client that does not log in is dropped after this. */
const loginTimeoutMs = 60_000;

/** One SSH connection, from accept to close; a client session of the router from the first byte on. */
export class SshConnection implements ClientSession {
  readonly service = 'ssh';
  readonly remoteAddress: string;
  user: string | undefined;
  private terminalFlags = '';
  private readonly router: SshRouter;
  private readonly options: SshServerOptions;
  private readonly socket: Socket;
  private readonly life = new AbortController();
  private readonly unregister: () => void;

  constructor(router: SshRouter, socket: Socket, options: SshServerOptions & { readonly hostKey: string }) {
    this.router = router;
    this.options = options;
    this.socket = socket;
    this.remoteAddress = (socket.remoteAddress ?? '').replace(/^::ffff:/, '');
    this.unregister = router.sessions.register(this, router.time.now());
    const timer = setTimeout(() => {
      if (this.user === undefined) this.close(false);
    }, loginTimeoutMs);
    socket.once('close', () => {
      clearTimeout(timer);
      this.end();
    });
    // One ssh2 server per connection: each gets the host key and the algorithms of the settings as they are now.
    const server = new ssh2.Server(
      { hostKeys: [options.hostKey], ident: 'ROSSSH', algorithms: algorithmsOf(router, options.algorithms) },
      (connection) => this.serve(connection),
    );
    server.injectSocket(socket);
  }

  close(reset: boolean): void {
    if (reset) this.socket.resetAndDestroy();
    else this.socket.destroy();
  }

  blackhole(): void {
    this.socket.pause();
    // Whatever is still written stays in memory; the SSH windows bound it.
    this.socket.cork();
    this.life.abort();
  }

  private end(): void {
    this.unregister();
    this.life.abort();
    if (this.user !== undefined) this.router.logout(this.user, this.remoteAddress, 'ssh');
    this.user = undefined;
  }

  private serve(connection: Connection): void {
    const gate = new LoginGate(this.router, this.remoteAddress, this.options.methods, {
      login: (user, flags) => {
        this.user = user;
        this.terminalFlags = flags;
      },
      tooMany: () => this.close(false),
    });
    connection.on('authentication', (context) => gate.answer(context));
    connection.on('error', () => this.close(false));
    connection.on('ready', () => this.serveChannels(connection));
  }

  private serveChannels(connection: Connection): void {
    const { router, options } = this;
    const peer: SshPeer = {
      router,
      options,
      connection,
      user: this.user ?? '',
      terminalFlags: this.terminalFlags,
      address: this.remoteAddress,
      signal: this.life.signal,
    };
    connection.on('session', (accept) => this.serveSession(peer, accept()));
    connection.on('tcpip', (accept, reject, info) => openForward(peer, accept, reject, info));
    // ssh2 answers "administratively prohibited" only without a listener for forwards; the setting may change at any time.
    const count = connection.listenerCount.bind(connection);
    connection.listenerCount = (event: string | symbol) => (event === 'tcpip' && !allowsLocalForward(peer) ? 0 : count(event));
    connection.on('request', (_accept, reject) => reject?.());
  }

  private serveSession(peer: SshPeer, session: SshSession): void {
    let pty: Pty | undefined;
    session.on('pty', (accept, _reject, info) => {
      // A client without a window of its own says 0.
      pty = { term: info.term, cols: info.cols || 80, rows: info.rows || 24 };
      accept?.();
    });
    session.on('env', (accept) => accept?.());
    session.on('window-change', (accept, _reject, { cols, rows }) => {
      if (pty) Object.assign(pty, { cols, rows });
      accept?.();
    });
    session.on('exec', (accept, _reject, info) => this.own(accept(), (channel) => runExec(peer, channel, info.command)));
    session.on('shell', (accept) => this.own(accept(), (channel) => (pty ? runTerminal(peer, channel, pty) : runShell(peer, channel))));
    session.on('sftp', (accept) => {
      const sftp = accept();
      // Without the policy the login works and the subsystem closes at once.
      if (peer.router.policiesOf(peer.user).has('ftp')) serveSftp(peer, sftp);
      else sftp.end();
    });
  }

  /** Runs a channel's work; an error of our own ends the connection rather than the process. */
  private own(channel: ServerChannel, work: (channel: ServerChannel) => Promise<void>): void {
    channel.on('error', () => channel.close());
    work(channel).catch((error: unknown) => {
      this.router.log('system,error,critical', `ssh session failed: ${String(error)}`);
      this.close(false);
    });
  }
}
