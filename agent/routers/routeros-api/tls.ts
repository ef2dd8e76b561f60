import { createHash } from 'node:crypto';
import type { Socket } from 'node:net';
import { type ConnectionOptions, TLSSocket } from 'node:tls';

/** How to authenticate the router on api-ssl. Default: the system's authorities. */
export interface TlsTrust {
  /** PEM of the authority that signed the router's certificate. */
  ca?: string | undefined;
  /** Pinned SHA-256 of the certificate in hex, colons allowed. Without `ca` it replaces the authority. */
  fingerprint?: string | undefined;
  /** Accepts a router without a certificate: encrypted, but not authenticated. */
  anonymous?: boolean | undefined;
}

/** Options for Node's TLS client. */
export function tlsOptions({ ca, fingerprint, anonymous }: TlsTrust): ConnectionOptions {
  // Anonymous Diffie-Hellman is below OpenSSL's default security level and does not exist in TLS 1.3.
  if (anonymous) return { ciphers: 'ADH:HIGH:@SECLEVEL=0', rejectUnauthorized: false };
  if (fingerprint === undefined) return { rejectUnauthorized: true, ...(ca === undefined ? {} : { ca: [ca] }) };
  // The pin identifies the certificate, so its name is not checked. verifyPin runs before the login.
  if (ca === undefined) return { rejectUnauthorized: false };
  return { rejectUnauthorized: true, ca: [ca], checkServerIdentity: () => undefined };
}

function normalise(fingerprint: string): string {
  return fingerprint.replaceAll(':', '').toLowerCase();
}

/** Compares the peer's certificate with the pin. @returns why the peer is refused; undefined when it matches */
export function verifyPin(socket: Socket, fingerprint: string): string | undefined {
  // Undefined, despite its type, when the connection has ended.
  const raw = socket instanceof TLSSocket ? socket.getPeerX509Certificate()?.raw : undefined;
  if (raw === undefined) return 'the router showed no certificate, but a fingerprint is required';
  const seen = createHash('sha256').update(raw).digest('hex');
  return seen === normalise(fingerprint) ? undefined : `the certificate's fingerprint is ${seen}, not the one required`;
}
