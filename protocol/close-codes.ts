/**
 * WebSocket close codes of the tunnel. They are for logs and people: what the agent does next follows from
 * `goaway`, which may be lost with the connection, and from its own back-off.
 */
export const CLOSE = {
  /** Nothing wrong: the other side said goaway, or this side is done. */
  normal: 1000,
  /** Not this protocol: a binary message, not JSON, no type, a hello or ready that cannot be read. */
  protocol: 4400,
  /** The agent's credential is no longer good. */
  revoked: 4401,
  /** No hello or no ready in time. */
  handshakeTimeout: 4408,
  /** A newer connection of the same agent exists. */
  replaced: 4409,
  /** No version in common. */
  version: 4426,
  /** Too many messages that cannot be read. The control plane takes no new tunnel of this agent for a while. */
  abuse: 4429,
  /** The server is about to restart, or cannot serve just now. */
  restart: 4503,
} as const;
