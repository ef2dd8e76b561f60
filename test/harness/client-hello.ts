import { once } from 'node:events';
import net from 'node:net';
import tls from 'node:tls';

/** What a real TLS client says first. */
export async function realClientHello(options: tls.ConnectionOptions): Promise<Buffer> {
  const server = net.createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as net.AddressInfo;
  const accepted = once(server, 'connection') as Promise<[net.Socket]>;
  const client = tls.connect({ port, host: '127.0.0.1', rejectUnauthorized: false, ...options });
  client.on('error', () => undefined);
  const [socket] = await accepted;
  const [bytes] = (await once(socket, 'data')) as [Buffer];
  client.destroy();
  socket.destroy();
  server.close();
  return bytes;
}

/** The same handshake message in records of `bytes` bytes each. */
export function inRecordsOf(hello: Buffer, bytes: number): Buffer {
  const message = hello.subarray(5);
  const records: Buffer[] = [];
  for (let at = 0; at < message.length; at += bytes) {
    const piece = message.subarray(at, at + bytes);
    const head = Buffer.from([22, 3, 1, 0, 0]);
    head.writeUInt16BE(piece.length, 3);
    records.push(head, piece);
  }
  return Buffer.concat(records);
}

/** A ClientHello with these extensions and nothing that matters besides. */
export function helloWith(extensions: { type: number; content: Buffer }[]): Buffer {
  const all = Buffer.concat(extensions.map(({ type, content }) => Buffer.concat([number(type, 2), number(content.length, 2), content])));
  const body = Buffer.concat([
    number(0x0303, 2),
    Buffer.alloc(32, 5),
    number(0, 1),
    number(2, 2),
    number(0x1301, 2),
    number(1, 1),
    number(0, 1),
    number(all.length, 2),
    all,
  ]);
  const message = Buffer.concat([number(1, 1), number(body.length, 3), body]);
  return Buffer.concat([Buffer.from([22, 3, 1]), number(message.length, 2), message]);
}

/** The extension that asks for a name. */
export function serverName(name: string): { type: number; content: Buffer } {
  const entry = Buffer.concat([number(0, 1), number(name.length, 2), Buffer.from(name, 'latin1')]);
  return { type: 0, content: Buffer.concat([number(entry.length, 2), entry]) };
}

function number(value: number, bytes: number): Buffer {
  const buffer = Buffer.alloc(bytes);
  buffer.writeUIntBE(value, 0, bytes);
  return buffer;
}
