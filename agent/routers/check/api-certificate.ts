import tls from 'node:tls';
import { type Deadline, onExpiry } from '../../core/deadline.ts';
import type { RouterAccess } from '../open-sessions.ts';
import type { Finding } from './types.ts';

/** RouterOS's own; as `openApi` takes it where none is configured. */
const API_TLS_PORT = 8729;

/**
 * What to put into `fingerprint` where the login failed because nothing vouches for the router's certificate. Nothing
 * is sent to the router: it is only asked for its certificate once more.
 * @returns undefined where the certificate is trusted, is not the question, or cannot be had
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
