/** The logger interface of the agent's parts (pino has this shape); injected, so that tests can be silent. */
export interface Log {
  debug(fields: object, message: string): void;
  info(fields: object, message: string): void;
  warn(fields: object, message: string): void;
  error(fields: object, message: string): void;
}
