/** Tunnel protocol major version; the WebSocket subprotocol names it. */
export const SUBPROTOCOL = 'signalbox.v1';
