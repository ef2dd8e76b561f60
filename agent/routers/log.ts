import type { Logger } from 'pino';

/** What the routers' part needs of the agent's logger. */
export type Log = Pick<Logger, 'debug' | 'info' | 'warn' | 'error'>;
