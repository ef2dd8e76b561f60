import { createHash, randomBytes } from 'node:crypto';
import type { IncomingHttpHeaders } from 'node:http';
import { SUBPROTOCOL } from './version.ts';

/** RFC 6455, section 1.3. */
const MAGIC = '258EAFA5-E914-47DA-95CA-C5AB0DC85B11';
const VERSION = '13';

function acceptKey(key: string): string {
  return createHash('sha1')
    .update(key + MAGIC)
    .digest('base64');
}

/** The response to a client's handshake, ready to be written; undefined for an invalid handshake (answer 400). */
export function upgradeResponse(headers: IncomingHttpHeaders, subprotocol: string = SUBPROTOCOL): string | undefined {
  const key = headers['sec-websocket-key'];
  const valid = key !== undefined && /^[+/0-9A-Za-z]{22}==$/.test(key) && headers['sec-websocket-version'] === VERSION;
  if (!valid || headers.upgrade?.toLowerCase() !== 'websocket') return undefined;
  return (
    'HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n' +
    `Sec-WebSocket-Accept: ${acceptKey(key)}\r\nSec-WebSocket-Protocol: ${subprotocol}\r\n\r\n`
  );
}

export interface UpgradeRequest {
  headers: Record<string, string>;
  /** Whether the server's response belongs to this request. */
  accepts(headers: IncomingHttpHeaders): boolean;
}

/** The headers of a client's handshake. */
export function upgradeRequest(bearer: string): UpgradeRequest {
  const key = randomBytes(16).toString('base64');
  const expected = acceptKey(key);
  return {
    headers: {
      authorization: `Bearer ${bearer}`,
      connection: 'Upgrade',
      upgrade: 'websocket',
      'sec-websocket-key': key,
      'sec-websocket-version': VERSION,
      'sec-websocket-protocol': SUBPROTOCOL,
    },
    accepts: (headers) => headers['sec-websocket-accept'] === expected && headers['sec-websocket-protocol'] === SUBPROTOCOL,
  };
}
