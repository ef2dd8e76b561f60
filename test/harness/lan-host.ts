/**
 * What listens on a machine behind a router: HTTP on port 80, which answers with the client's address, or swallows what
 * is sent; an echo on port 7.
 */
import http from 'node:http';
import net from 'node:net';
import process from 'node:process';

http
  .createServer((request, response) => {
    let size = 0;
    request.on('data', (chunk: Buffer) => (size += chunk.length));
    request.on('end', () =>
      response.end(request.method === 'PUT' ? `got ${size}` : `you are ${request.socket.remoteAddress?.replace('::ffff:', '')}`),
    );
  })
  .listen(80, () => {
    net
      .createServer({ allowHalfOpen: true }, (socket) => {
        socket.on('error', () => undefined);
        socket.pipe(socket);
      })
      .listen(7, () => process.stdout.write('ready\n'));
  });
