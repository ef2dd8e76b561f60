import { execFile } from 'node:child_process';
import { mkdtemp, mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import https from 'node:https';
import os from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';
import { freePort } from './installation.ts';
import { ReverseProxy, isProxyMissing } from './reverse-proxy.ts';

const run = promisify(execFile);
const PROGRAM_MS = 20_000;
const KEY = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes', '-days', '30'];
/** Without a file of its own, openssl adds what its installation adds. */
const SETTINGS = `[req]
distinguished_name = name
[name]
[authority]
basicConstraints = critical, CA:TRUE
keyUsage = critical, keyCertSign
subjectKeyIdentifier = hash
[server]
basicConstraints = critical, CA:FALSE
extendedKeyUsage = serverAuth
subjectAltName = DNS:localhost, IP:127.0.0.1
`;

export const isTlsFrontMissing = isProxyMissing('nginx');

/**
 * TLS as companies have it: nginx with the recipe of docs/reverse-proxy.md before the control plane, and a certificate of a CA of its own,
 * which the browser (by its own store of certificates) and the agent (by `server_ca`) are told to trust. Nobody looks away from an error.
 */
export class TlsFront {
  readonly url: string;
  /** PEM of the CA. */
  readonly caFile: string;
  /** The home folder of a browser that trusts the CA. */
  readonly home: string;
  readonly #folder: string;
  readonly #port: number;
  #proxy: ReverseProxy | undefined;

  private constructor(folder: string, port: number) {
    this.#folder = folder;
    this.#port = port;
    this.url = `https://localhost:${port}`;
    this.caFile = path.join(folder, 'ca.pem');
    this.home = path.join(folder, 'home');
  }

  /** Makes the certificates. The address is known, but nobody answers there yet. */
  static async prepare(): Promise<TlsFront> {
    const front = new TlsFront(await mkdtemp(path.join(os.tmpdir(), 'signalbox-front-')), await freePort());
    await front.#makeCertificates();
    await front.#trustInBrowser();
    return front;
  }

  /** Starts the proxy. @param upstream the control plane's own address */
  async open(upstream: string): Promise<void> {
    const ca = await readFile(this.caFile);
    const place = { folder: this.#folder, port: this.#port, upstream };
    this.#proxy = await ReverseProxy.start('nginx', place, () => isHealthy(`${this.url}/healthz`, ca));
  }

  async close(): Promise<void> {
    await this.#proxy?.close();
    await rm(this.#folder, { recursive: true, force: true });
  }

  async #makeCertificates(): Promise<void> {
    const file = (name: string): string => path.join(this.#folder, name);
    await writeFile(file('openssl.cnf'), SETTINGS);
    const openssl = (...args: string[]) =>
      run('openssl', ['req', '-x509', '-config', file('openssl.cnf'), ...KEY, ...args], { timeout: PROGRAM_MS });
    const authority = ['-subj', '/CN=A CA of its own', '-extensions', 'authority'];
    await openssl(...authority, '-keyout', file('ca-key.pem'), '-out', this.caFile);
    const leaf = ['-subj', '/CN=localhost', '-extensions', 'server', '-CA', this.caFile, '-CAkey', file('ca-key.pem')];
    await openssl(...leaf, '-keyout', file('privkey.pem'), '-out', file('fullchain.pem'));
  }

  async #trustInBrowser(): Promise<void> {
    const store = path.join(this.home, '.pki', 'nssdb');
    await mkdir(store, { recursive: true });
    const certutil = (...args: string[]) => run('certutil', ['-d', `sql:${store}`, ...args], { timeout: PROGRAM_MS });
    await certutil('-N', '--empty-password');
    await certutil('-A', '-n', 'own-ca', '-t', 'C,,', '-i', this.caFile);
  }
}

function isHealthy(url: string, ca: Buffer): Promise<boolean> {
  return new Promise((resolve, reject) => {
    const request = https.get(url, { ca, agent: false }, (answer) => {
      answer.resume();
      resolve(answer.statusCode === 200);
    });
    request.on('error', reject);
  });
}
