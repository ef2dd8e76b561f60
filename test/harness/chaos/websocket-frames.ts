/** The end of the head of an HTTP message. */
const HEAD_END = Buffer.from('\r\n\r\n');

/**
 * Cuts one direction of a WebSocket connection into its handshake and its frames, whole, as they were sent. What is not
 * a successful upgrade is passed on as it comes.
 */
export class FrameSplitter {
  #rest = Buffer.alloc(0);
  #state: 'head' | 'frames' | 'raw' = 'head';

  /** @returns what is complete now, each frame by itself */
  push(chunk: Buffer): { bytes: Buffer; isFrame: boolean }[] {
    this.#rest = Buffer.concat([this.#rest, chunk]);
    const out: { bytes: Buffer; isFrame: boolean }[] = [];
    if (this.#state === 'head') {
      const end = this.#rest.indexOf(HEAD_END);
      if (end === -1) return out;
      const head = this.#take(end + HEAD_END.length);
      const isUpgrade = head.toString('latin1').startsWith('GET ') || head.toString('latin1').startsWith('HTTP/1.1 101');
      this.#state = isUpgrade ? 'frames' : 'raw';
      out.push({ bytes: head, isFrame: false });
    }
    if (this.#state === 'raw' && this.#rest.length > 0) out.push({ bytes: this.#take(this.#rest.length), isFrame: false });
    for (let size = frameSize(this.#rest); size !== undefined && this.#state === 'frames'; size = frameSize(this.#rest)) {
      out.push({ bytes: this.#take(size), isFrame: true });
    }
    return out;
  }

  #take(bytes: number): Buffer {
    const taken = this.#rest.subarray(0, bytes);
    this.#rest = this.#rest.subarray(bytes);
    return taken;
  }
}

/** Bytes of the frame at the beginning, undefined until all of it is there (RFC 6455 section 5.2). */
function frameSize(bytes: Buffer): number | undefined {
  const [, second] = bytes;
  if (second === undefined) return undefined;
  const short = second & 0x7f;
  const lengthBytes = short === 126 ? 2 : short === 127 ? 8 : 0;
  if (bytes.length < 2 + lengthBytes) return undefined;
  const length = lengthBytes === 0 ? short : lengthBytes === 2 ? bytes.readUInt16BE(2) : Number(bytes.readBigUInt64BE(2));
  const size = 2 + lengthBytes + ((second & 0x80) === 0 ? 0 : 4) + length;
  return bytes.length < size ? undefined : size;
}
