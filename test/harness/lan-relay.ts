/**
 * `lan-relay.ts PORT PATH`: a port of a machine in a network namespace that leads to a socket file of the test, which is no
 * part of any network. Half-closes are kept.
 */
import net from 'node:net';
import process from 'node:process';

const [port, file] = process.argv.slice(2);
net
  .createServer({ allowHalfOpen: true }, (client) => {
    const server = net.connect({ path: file!, allowHalfOpen: true });
    client.pipe(server).pipe(client);
    for (const [socket, other] of [
      [client, server],
      [server, client],
    ] as const)
      socket.on('error', () => other.destroy());
  })
  .listen(Number(port), () => process.stdout.write('ready\n'));
