import type { Server as HttpServer } from 'node:http';
import { Server as HttpsServer } from 'node:https';
import type { Clock } from '../core/clock.ts';
import type { Log } from '../core/log.ts';
import { Periodic } from '../core/periodic.ts';
import { readTlsFiles } from './files.ts';
import type { TlsFiles, TlsPair } from './files.ts';

/** How often the files are checked, milliseconds: certificates are renewed weeks before they expire. */
const READ_EVERY_MS = 60_000;

export interface TlsCertificateDeps {
  clock: Clock;
  log: Pick<Log, 'info' | 'warn' | 'error'>;
}

/**
 * The certificate of this server. A renewed one is used without a restart: new connections get it, open ones continue. Files
 * that do not match, as during a renewal, are ignored and read again a minute later.
 */
export class TlsCertificate {
  readonly #files: TlsFiles;
  readonly #deps: TlsCertificateDeps;
  readonly #servers: HttpsServer[] = [];
  #current: TlsPair;
  readonly #reads: Periodic;
  #reading: Promise<void> = Promise.resolve();

  private constructor(files: TlsFiles, pair: TlsPair, deps: TlsCertificateDeps) {
    this.#files = files;
    this.#current = pair;
    this.#deps = deps;
    this.#reads = new Periodic({
      clock: deps.clock,
      log: deps.log,
      everyMs: READ_EVERY_MS,
      failure: 'the TLS certificate could not be read again; the one in use stays',
      run: () => this.read(),
    });
  }

  /** @throws AppError `invalid` naming the setting, the file and the reason */
  static async open(files: TlsFiles, deps: TlsCertificateDeps): Promise<TlsCertificate> {
    const certificate = new TlsCertificate(files, await readTlsFiles(files), deps);
    certificate.#reads.start();
    return certificate;
  }

  get pair(): TlsPair {
    return this.#current;
  }

  /** Installs every renewed certificate in this server. */
  keepRenewed(server: HttpServer): void {
    if (server instanceof HttpsServer) this.#servers.push(server);
  }

  /** Reads the files now. Never rejects: an error is logged, and the certificate in use stays. */
  read(): Promise<void> {
    this.#reading = this.#reading.then(() => this.#exchange());
    return this.#reading;
  }

  async stop(): Promise<void> {
    await this.#reads.stop();
    await this.#reading;
  }

  async #exchange(): Promise<void> {
    const { log } = this.#deps;
    try {
      const pair = await readTlsFiles(this.#files);
      if (pair.cert.equals(this.#current.cert) && pair.key.equals(this.#current.key)) return;
      for (const server of this.#servers) server.setSecureContext(pair);
      this.#current = pair;
      log.info({}, 'the renewed TLS certificate is in use');
    } catch (error) {
      log.warn({ err: error }, 'the TLS certificate could not be read again; the one in use stays');
    }
  }
}
