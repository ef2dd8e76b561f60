import { X509Certificate } from 'node:crypto';
import { once } from 'node:events';
import net from 'node:net';
import type { Config, ListenAddress } from '../../config.ts';
import { RENEWAL_LATE_DAYS } from '../../platform/core/warning-levels.ts';
import { readTlsFiles } from '../../platform/tls/files.ts';
import { fail, ok, warn } from './types.ts';
import type { Finding } from './types.ts';

const DAY_MS = 24 * 3600_000;
const ANSWER_MS = 5000;

/** Certificate, ports and public URL. */
export async function checkNetwork(config: Config, now: number): Promise<Finding[]> {
  return [
    await certificateFinding(config, now),
    await listenFinding(config),
    await sandboxFinding(config),
    forwardsFinding(config),
    await publicUrlFinding(config),
  ].flat();
}

async function certificateFinding({ tls, publicUrl }: Config, now: number): Promise<Finding> {
  const check = 'certificate';
  const { protocol, hostname } = new URL(publicUrl);
  if (tls === null) {
    if (protocol === 'https:') return ok(check, 'a proxy terminates TLS');
    return isLoopback(hostname)
      ? ok(check, 'not needed: the public URL is this machine')
      : warn(check, `none, and ${publicUrl} is not https: keys and router data are sent unencrypted`);
  }
  try {
    const { cert } = await readTlsFiles(tls);
    const certificate = new X509Certificate(cert);
    const days = Math.floor((Date.parse(certificate.validTo) - now) / DAY_MS);
    const host = hostname.replace(/^\[|\]$/g, '');
    const name = net.isIP(host) === 0 ? certificate.checkHost(host) : certificate.checkIP(host);
    if (days < 0) return fail(check, `${tls.certFile} expired on ${certificate.validTo}`);
    if (name === undefined) return fail(check, `${tls.certFile} is not valid for ${hostname}, the host of SIGNALBOX_PUBLIC_URL`);
    const text = `${tls.certFile} is valid for ${name} and expires in ${days} days`;
    return days < RENEWAL_LATE_DAYS ? warn(check, `${text}: renew it; a running server loads it within a minute`) : ok(check, text);
  } catch (error) {
    return fail(check, (error as Error).message);
  }
}

async function listenFinding({ listen }: Config): Promise<Finding> {
  return portFinding('API port', listen, 'SIGNALBOX_LISTEN');
}

async function sandboxFinding({ sandboxListen }: Config): Promise<Finding[]> {
  return sandboxListen === null ? [] : [await portFinding('demonstration port', sandboxListen, 'SIGNALBOX_SANDBOX_LISTEN')];
}

/** A port in use is fine when the running control plane uses it. */
async function portFinding(check: string, address: ListenAddress, setting: string): Promise<Finding> {
  const shown = `${address.host}:${address.port}`;
  const server = net.createServer();
  try {
    server.listen({ host: address.host, port: address.port });
    await once(server, 'listening');
    return ok(check, `${shown} is free`);
  } catch (error) {
    const { code = '' } = error as NodeJS.ErrnoException;
    if (code === 'EADDRINUSE' && (await isSignalbox(address))) return ok(check, `${shown}: the control plane is running`);
    return fail(check, `cannot listen on ${shown} (${code}): change ${setting}, or stop the program that uses the port`);
  } finally {
    server.close();
  }
}

async function isSignalbox({ host, port }: ListenAddress): Promise<boolean> {
  const reachable = host === '0.0.0.0' ? '127.0.0.1' : host === '::' ? '[::1]' : net.isIPv6(host) ? `[${host}]` : host;
  for (const scheme of ['http', 'https']) {
    const answer = await fetch(`${scheme}://${reachable}:${port}/healthz`, {
      signal: AbortSignal.timeout(ANSWER_MS),
      redirect: 'manual',
    }).catch((error: unknown) => {
      // The certificate is for the public name, so this address fails the check; that the port speaks TLS is enough.
      return String((error as { cause?: { code?: string } }).cause?.code).includes('CERT') ? true : undefined;
    });
    if (answer === true || typeof answer?.headers.get('x-request-id') === 'string') return true;
  }
  return false;
}

function forwardsFinding({ forwards }: Config): Finding {
  const { first, last } = forwards.ports;
  return ok('forwards', `${last - first + 1} entry ports, ${first} to ${last} on ${forwards.listen}; clients connect to ${forwards.host}`);
}

async function publicUrlFinding({ publicUrl }: Config): Promise<Finding> {
  const check = 'public URL';
  try {
    const answer = await fetch(`${publicUrl}/healthz`, { signal: AbortSignal.timeout(ANSWER_MS), redirect: 'manual' });
    if (answer.ok) return ok(check, `${publicUrl} reaches a control plane`);
    return warn(check, `${publicUrl}/healthz answers ${answer.status}: agents and users must reach the control plane there`);
  } catch (error) {
    const { cause } = error as { cause?: { code?: string; message?: string } };
    return warn(
      check,
      `${publicUrl} does not answer from this machine (${cause?.code ?? cause?.message ?? (error as Error).message}); it must once the server runs`,
    );
  }
}

function isLoopback(host: string): boolean {
  return host === 'localhost' || host === '[::1]' || /^127(\.\d+){3}$/.test(host);
}
