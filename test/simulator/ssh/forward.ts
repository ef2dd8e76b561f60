import { connect, type Socket } from 'node:net';
import type { AcceptConnection, RejectConnection, ServerChannel, TcpipRequestInfo } from 'ssh2';
import type { SshPeer } from './types.ts';

/** How long the router tries to reach a target. */
const connectTimeoutMs = 10_000;

/** True when `/ip/ssh forwarding-enabled` lets clients open connections through the router. */
export function allowsLocalForward(peer: Pick<SshPeer, 'router'>): boolean {
  const { forwarding } = peer.router.sshSettings;
  return forwarding === 'local' || forwarding === 'both';
}

/** Connects to the target of a `direct-tcpip` channel and joins both; a target not reached is "connect failed". */
export function openForward(
  peer: SshPeer,
  accept: AcceptConnection<ServerChannel>,
  reject: RejectConnection,
  info: TcpipRequestInfo,
): void {
  const { address } = peer.router.resolveHost(info.destIP);
  const allowed = isLoopback(address) || peer.options.allowTarget?.(address, info.destPort) === true;
  if (!allowed || info.destPort < 1 || info.destPort > 65_535) return reject();
  const socket = connect({ host: address, port: info.destPort, allowHalfOpen: true, noDelay: true });
  const drop = (): void => void socket.destroy();
  const timer = setTimeout(drop, connectTimeoutMs);
  peer.signal.addEventListener('abort', drop, { once: true });
  const refuse = (): void => reject();
  socket.once('close', refuse);
  socket.once('close', () => {
    clearTimeout(timer);
    peer.signal.removeEventListener('abort', drop);
  });
  socket.on('error', drop);
  socket.once('connect', () => {
    clearTimeout(timer);
    socket.off('close', refuse);
    join(socket, accept());
  });
}

function isLoopback(address: string): boolean {
  return address === 'localhost' || address === '::1' || /^127(?:\.\d{1,3}){3}$/.test(address);
}

/** Pipes both ways. The end of one direction leaves the other open; a full reader stops the other side's writer. */
function join(socket: Socket, channel: ServerChannel): void {
  let ends = 0;
  const ended = (): void => {
    ends += 1;
    // ssh2 sends EOF and CLOSE together on end(), which would cut the direction still open.
    if (ends === 2) channel.end();
  };
  channel.pipe(socket);
  channel.once('end', ended);
  socket.on('data', (chunk) => {
    if (!channel.write(chunk)) socket.pause();
  });
  channel.on('drain', () => socket.resume());
  // The EOF goes out behind everything written before it.
  socket.once('end', () =>
    channel.write(Buffer.alloc(0), () => {
      channel.eof();
      ended();
    }),
  );
  socket.once('close', () => channel.end());
  channel.on('error', () => socket.destroy());
  channel.once('close', () => {
    socket.resume();
    socket.destroySoon();
  });
}
