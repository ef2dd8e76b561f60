/** Public interface of the client: `import { Signalbox } from './client/index.ts'`. */
export { ApiClient } from './api-client.ts';
export type { Answer, Input, ListOperation, OperationId, Result } from './api-client.ts';
export { Signalbox } from './client.ts';
export { ConnectionError, ProblemError } from './errors.ts';
export type { EventOptions, EventType, StreamEvent } from './events.ts';
export * from './generated.ts';
export { isOver } from './job-wait.ts';
export type { WaitOptions } from './job-wait.ts';
export type { CallOptions, Pause, PauseReason, TransportOptions } from './transport.ts';
