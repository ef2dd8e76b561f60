import { lookup } from 'node:dns/promises';
import type { AddressInfo } from 'node:net';
import type { App } from './app-type.ts';
import { boundPipelining } from './pipelining.ts';
import type { QuietConnections } from './quiet-connections.ts';

/**
 * Connections that may wait to be accepted. With Node's 511 the kernel drops the rest of a burst, and their callers try again after
 * one, three and seven seconds instead of hearing that the process is busy. Linux caps it (net.core.somaxconn, 4096).
 */
const BACKLOG = 4096;

/**
 * @param what listens, for the log
 * @param quiet counts the connections of this application; those of all servers of the process together
 * @returns the address with the port that the system chose, if it was to choose
 * @throws Error when the port cannot be had
 */
export async function listen(
  app: App,
  address: { readonly host: string; readonly port: number },
  { quiet, what = 'control plane' }: { quiet?: QuietConnections | undefined; what?: string } = {},
): Promise<string> {
  quiet?.watch(app.server);
  boundPipelining(app.server);
  await app.listen({
    host: await oneAddress(address.host),
    port: address.port,
    backlog: BACKLOG,
    listenTextResolver: (at) => `${what} listens at ${at}`,
  });
  const { port } = app.server.address() as AddressInfo;
  const scheme = app.initialConfig.https ? 'https' : 'http';
  const host = address.host.includes(':') ? `[${address.host}]` : address.host;
  return `${scheme}://${host}:${port}`;
}

/**
 * Fastify listens on every address of `localhost`, on each but one with a server that knows none of the limits set above nor the queue
 * of admission-gate.ts. So it gets one address.
 */
async function oneAddress(host: string): Promise<string> {
  return host === 'localhost' ? (await lookup(host)).address : host;
}
