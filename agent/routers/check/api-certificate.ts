import tls from 'node:tls';
import { type Deadline, onExpiry } from '../../core/deadline.ts';
import type { RouterAccess } from '../open-sessions.ts';
import type { Finding } from './types.ts';

/** RouterOS's default port, which `openApi` uses too. */
const API_TLS_PORT = 8729;

/**
 * The value for `fingerprint` when the login failed because the router's certificate is not trusted. Connects again only to read the
 * certificate, and sends no credentials.
 * @returns undefined when the certificate is trusted, is not the cause, or cannot be read
 */
export async function unknownCertificate({ host, api }: RouterAccess, deadline: Deadline): Promise<Finding | undefined> {
  if (!api?.tls || api.anonymous_tls || api.ca !== undefined || api.fingerprint !== undefined) return undefined;
  const seen = await untrustedFingerprint(host, api.port ?? API_TLS_PORT, deadline);
  if (seen === undefined) return undefined;
  return { ok: true, warning: true, detail: `not verified: if this is the router's certificate, set fingerprint: "${seen}"` };
}

function untrustedFingerprint(host: string, port: number, deadline: Deadline): Promise<string | undefined> {
  return new Promise((resolve) => {
    const socket = tls.connect({ host, port, rejectUnauthorized: false });
    let endWait = (): void => undefined;
    const finish = (fingerprint?: string): void => {
      endWait();
      socket.destroy();
      resolve(fingerprint);
    };
    socket.on('error', () => finish());
    socket.once('close', () => finish());
    socket.once('secureConnect', () => finish(socket.authorized ? undefined : socket.getPeerX509Certificate()?.fingerprint256));
    endWait = onExpiry(deadline, () => finish());
  });
}
