/** The client for web pages and workers: no Node module behind this door. */
export { ApiClient } from './api-client.ts';
export type { Answer, Input, ListItem, ListOperation, OperationId, Result } from './api-client.ts';
export { ConnectionError, ProblemError, isRetryable } from './errors.ts';
export type { EventOptions, EventType, StreamEvent } from './events.ts';
export * from './generated.ts';
export { pauseFor, randomKey } from './transport.ts';
export type { CallOptions, TransportOptions } from './transport.ts';
