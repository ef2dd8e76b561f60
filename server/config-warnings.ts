import type { Config } from './config.ts';

const UNTRUSTED_PROXY =
  'SIGNALBOX_PUBLIC_URL is https and SIGNALBOX_LISTEN serves plain HTTP, so it needs a proxy: set its address in SIGNALBOX_TRUST_PROXY. ' +
  'Until then all clients behind it share one request limit and one sign-in limit, and the audit log has the address of the proxy';

const PROXY_TRUSTED_EVERYWHERE =
  'SIGNALBOX_TRUST_PROXY is on and SIGNALBOX_LISTEN is not a loopback address: a client that connects directly can claim any address. ' +
  'Set the address of the proxy instead';

/** Warnings about valid settings that are probably wrong, for the log. */
export function configurationWarnings({ forwards, listen, publicUrl, tls, trustProxy }: Config): string[] {
  const warnings: string[] = [];
  if (isLoopback(forwards.listen) && !isLoopback(forwards.host)) {
    warnings.push(`entry ports listen on ${forwards.listen} and cannot be reached as ${forwards.host}: set SIGNALBOX_FORWARD_LISTEN`);
  }
  if (publicUrl.startsWith('https:') && tls === null && trustProxy === false) warnings.push(UNTRUSTED_PROXY);
  if (trustProxy === true && !isLoopback(listen.host)) warnings.push(PROXY_TRUSTED_EVERYWHERE);
  return warnings;
}

function isLoopback(host: string): boolean {
  return host === 'localhost' || host === '::1' || /^127(\.\d+){3}$/.test(host);
}
