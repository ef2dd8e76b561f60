import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { WebSocketServer } from 'ws';
import { disablePretenuring } from '../../../runtime/pretenuring.ts';
import { MAX_MESSAGE_BYTES, SUBPROTOCOL } from '../../../protocol/index.ts';
import type { AnsweringPart } from '../answering-part.ts';

/** As the control plane (server/platform/http/listen.ts). */
const BACKLOG = 4096;

/** What connections of agents cost at least: a WebSocket server that accepts everybody and ignores what they say. */
export async function startBareServer(): Promise<AnsweringPart<'connections', number, number>> {
  disablePretenuring();
  const tunnels = new WebSocketServer({
    noServer: true,
    clientTracking: false,
    perMessageDeflate: false,
    maxPayload: MAX_MESSAGE_BYTES,
    handleProtocols: () => SUBPROTOCOL,
  });
  let connections = 0;
  const server = createServer();
  server.on('upgrade', (request, socket, head) => {
    socket.on('error', () => socket.destroy());
    tunnels.handleUpgrade(request, socket, head, (ws) => {
      connections += 1;
      ws.on('error', () => ws.terminate());
      ws.on('message', () => undefined);
    });
  });
  await new Promise<void>((resolve) => server.listen({ port: 0, host: '127.0.0.1', backlog: BACKLOG }, resolve));
  return { result: (server.address() as AddressInfo).port, ask: () => connections };
}
