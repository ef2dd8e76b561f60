/**
 * WebSocket close codes of the tunnel, for logs and people. What the agent does next depends on `goaway`, which may be lost with
 * the connection, and on its own back-off.
 */
export const CLOSE = {
  /** No error: the other side sent goaway, or this side is done. */
  normal: 1000,
  /** Not this protocol: a binary message, no JSON, no type, or an invalid hello or ready. */
  protocol: 4400,
  /** The agent's credentials are no longer valid. */
  revoked: 4401,
  /** No hello or no ready in time. */
  handshakeTimeout: 4408,
  /** A newer connection of the same agent exists. */
  replaced: 4409,
  /** No version in common. */
  version: 4426,
  /** Too many invalid messages. The control plane refuses new tunnels of this agent for a while. */
  abuse: 4429,
  /** The server is about to restart, or cannot serve just now. */
  restart: 4503,
} as const;
