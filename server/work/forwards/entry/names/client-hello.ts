import { INCOMPLETE, refused } from './prelude.ts';
import type { Prelude } from './prelude.ts';

/** The server name (SNI) that a TLS client sends (RFC 6066, section 3); undefined when it sends none. */
export interface ClientHello {
  serverName: string | undefined;
}

const HANDSHAKE_RECORD = 22;
const CLIENT_HELLO = 1;
const SERVER_NAME_EXTENSION = 0;
const HOST_NAME = 0;

const RECORD_HEADER_BYTES = 5;
const MESSAGE_HEADER_BYTES = 4;
/** RFC 8446, section 5.1. */
const MAX_RECORD_BYTES = 2 ** 14;
/** With a post-quantum key share, a session ticket and ECH it is about 3 kB. */
const MAX_MESSAGE_BYTES = 16 * 1024;
/** One in practice; a handful from clients that split the name to evade filters. */
const MAX_RECORDS = 64;

/**
 * Reads the ClientHello at the beginning of a TLS connection, in one record or several, without consuming it: the target
 * terminates the TLS. The name inside an encrypted ClientHello stays hidden; the outer name counts.
 */
export function parseClientHello(bytes: Buffer): Prelude<ClientHello> {
  const pieces: Buffer[] = [];
  let at = 0;
  let wanted = Infinity;
  let got = 0;
  while (got < wanted) {
    if (bytes.length > at && bytes[at] !== HANDSHAKE_RECORD) return refused('not TLS');
    if (bytes.length > at + 1 && bytes[at + 1] !== 3) return refused('not TLS');
    if (bytes.length < at + RECORD_HEADER_BYTES) return INCOMPLETE;
    const length = bytes.readUInt16BE(at + 3);
    if (length === 0 || length > MAX_RECORD_BYTES || pieces.length === MAX_RECORDS) return refused('a ClientHello in strange records');
    const piece = bytes.subarray(at + RECORD_HEADER_BYTES, at + RECORD_HEADER_BYTES + length);
    pieces.push(piece);
    got += piece.length;
    const header = pieces.length === 1 ? piece : Buffer.concat(pieces.slice(0, MESSAGE_HEADER_BYTES));
    if (header.length > 0 && header[0] !== CLIENT_HELLO) return refused('not a ClientHello');
    if (header.length >= MESSAGE_HEADER_BYTES) wanted = MESSAGE_HEADER_BYTES + header.readUIntBE(1, 3);
    if (wanted !== Infinity && wanted > MAX_MESSAGE_BYTES) return refused('a ClientHello that is too long');
    if (got < wanted && piece.length < length) return INCOMPLETE;
    at += RECORD_HEADER_BYTES + length;
  }
  const hello = readHello(new Fields(Buffer.concat(pieces).subarray(MESSAGE_HEADER_BYTES, wanted)));
  return hello ? { state: 'complete', value: hello, length: 0 } : refused('a ClientHello that cannot be read');
}

function readHello(fields: Fields): ClientHello | undefined {
  // Version, random, session, cipher suites, compression.
  fields.skip(2 + 32);
  fields.vector(1);
  fields.vector(2);
  fields.vector(1);
  if (fields.broken) return undefined;
  // A ClientHello without extensions ends here.
  const extensions = fields.rest > 0 ? fields.vector(2) : new Fields(Buffer.alloc(0));
  const names: (string | undefined)[] = [];
  while (extensions.rest > 0 && !extensions.broken) {
    const type = extensions.number(2);
    const content = extensions.vector(2);
    if (type === SERVER_NAME_EXTENSION) names.push(readServerName(content));
  }
  if (fields.broken || fields.rest > 0 || extensions.broken || names.length > 1) return undefined;
  if (names.length === 1 && names[0] === undefined) return undefined;
  return { serverName: names[0] };
}

/** The first host name of the list; clients send one. */
function readServerName(content: Fields): string | undefined {
  const list = content.vector(2);
  while (list.rest > 0 && !list.broken) {
    const type = list.number(1);
    const name = list.vector(2);
    if (type === HOST_NAME && !list.broken && name.rest > 0) return name.text().toLowerCase();
  }
  return undefined;
}

/** Reads the fields of a TLS structure in order. Reading past the end returns nothing and sets `broken`. */
class Fields {
  readonly #bytes: Buffer;
  #at = 0;
  broken = false;

  constructor(bytes: Buffer) {
    this.#bytes = bytes;
  }

  get rest(): number {
    return this.#bytes.length - this.#at;
  }

  skip(count: number): void {
    if (count > this.rest) this.broken = true;
    this.#at = Math.min(this.#at + count, this.#bytes.length);
  }

  /** @param bytes 1 or 2 */
  number(bytes: 1 | 2): number {
    const at = this.#at;
    this.skip(bytes);
    return this.broken ? 0 : this.#bytes.readUIntBE(at, bytes);
  }

  /** A vector behind a length field. @param lengthBytes size of the length field */
  vector(lengthBytes: 1 | 2): Fields {
    const length = this.number(lengthBytes);
    const at = this.#at;
    this.skip(length);
    return new Fields(this.broken ? Buffer.alloc(0) : this.#bytes.subarray(at, at + length));
  }

  text(): string {
    return this.#bytes.toString('latin1', this.#at);
  }
}
