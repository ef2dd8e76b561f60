import { LinkError } from './errors.ts';

/**
 * The base address for WebSockets of a control plane.
 * @throws LinkError `refused` when it is not one
 */
export function webSocketBase(server: string): URL {
  const url = URL.parse(server);
  if (!url || !/^(https?|wss?):$/.test(url.protocol)) throw new LinkError('refused', `not an address of a control plane: ${server}`);
  url.protocol = url.protocol === 'https:' || url.protocol === 'wss:' ? 'wss:' : 'ws:';
  url.search = '';
  url.hash = '';
  return url;
}

/**
 * The base address of another control plane of the same installation, which the agent's own one names for channels. It is no better protected
 * than its sender: a control plane that was taken over must not use it to read channels on the way, or to reach what listens only on the
 * agent's machine.
 * @param own the base address of the configuration
 * @throws LinkError `refused`
 */
export function otherServerBase(server: string, own: URL): URL {
  const url = webSocketBase(server);
  if (url.username !== '' || url.password !== '') throw new LinkError('refused', 'the address for channels has a user name or a password');
  if (own.protocol === 'wss:' && url.protocol !== 'wss:')
    throw new LinkError('refused', `the address for channels is without TLS, and that of the server in agent.yaml has it: ${url.host}`);
  if (isLoopback(url.hostname) && !isLoopback(own.hostname))
    throw new LinkError('refused', `the address for channels is this machine, and that of the server in agent.yaml is not: ${url.host}`);
  return url;
}

export function isLoopback(hostname: string): boolean {
  return (
    /^(.+\.)?localhost\.?$/.test(hostname) || hostname === '[::1]' || isLoopback4(hostname) || /^\[::ffff:7f[0-9a-f]{2}:/.test(hostname)
  );
}

/** `URL` writes every form of an IPv4 address with four decimal numbers. 0.0.0.0 is this machine, too. */
function isLoopback4(hostname: string): boolean {
  return /^127(\.\d+){3}$/.test(hostname) || hostname === '0.0.0.0' || hostname === '[::]';
}
