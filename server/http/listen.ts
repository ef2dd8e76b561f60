import type { AddressInfo } from 'node:net';
import type { App } from './app-type.ts';

/** @returns the address with the port that the system chose, if it was to choose. @throws Error when the port cannot be had */
export async function listen(app: App, address: { readonly host: string; readonly port: number }): Promise<string> {
  await app.listen({ host: address.host, port: address.port });
  const { port } = app.server.address() as AddressInfo;
  const scheme = app.initialConfig.https ? 'https' : 'http';
  const host = address.host.includes(':') ? `[${address.host}]` : address.host;
  return `${scheme}://${host}:${port}`;
}
