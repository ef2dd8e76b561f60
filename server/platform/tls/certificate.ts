import type { Server as HttpServer } from 'node:http';
import { Server as HttpsServer } from 'node:https';
import type { Clock } from '../core/clock.ts';
import type { Log } from '../core/log.ts';
import { Periodic } from '../core/periodic.ts';
import { readTlsFiles } from './files.ts';
import type { TlsFiles, TlsPair } from './files.ts';

/** How often the files are checked, milliseconds: certificates are renewed weeks before they expire. */
const READ_EVERY_MS = 60_000;

/** What `node:tls` takes: a name, a key for encryption and one for authentication. */
export const TICKET_KEY_BYTES = 48;
const DAY_MS = 24 * 3_600_000;

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
  #ticketKey: ((day: number) => Buffer) | undefined;
  #ticketDay = -1;
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
    if (!(server instanceof HttpsServer)) return;
    this.#servers.push(server);
    if (this.#ticketKey) server.setTicketKeys(this.#ticketKey(this.#today));
  }

  /**
   * For several servers behind one name: a client that had a connection to one continues its TLS session with any, which takes a fraction
   * of the processor time of a new one. To be called before servers are added.
   * @param keyOf the same for all of them; another one each day, so that an old recording is not opened by a key of today
   */
  shareTickets(keyOf: (day: number) => Buffer): void {
    this.#ticketKey = keyOf;
    this.#ticketDay = this.#today;
  }

  get #today(): number {
    return Math.floor(this.#deps.clock.now() / DAY_MS);
  }

  #renewTickets(isNewContext: boolean): void {
    if (!this.#ticketKey || (!isNewContext && this.#ticketDay === this.#today)) return;
    this.#ticketDay = this.#today;
    for (const server of this.#servers) server.setTicketKeys(this.#ticketKey(this.#today));
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
      const isSame = pair.cert.equals(this.#current.cert) && pair.key.equals(this.#current.key);
      if (!isSame) for (const server of this.#servers) server.setSecureContext(pair);
      this.#renewTickets(!isSame);
      if (isSame) return;
      this.#current = pair;
      log.info({}, 'the renewed TLS certificate is in use');
    } catch (error) {
      log.warn({ err: error }, 'the TLS certificate could not be read again; the one in use stays');
    }
  }
}
