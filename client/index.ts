/** Public interface of the client: `import { Signalbox } from './client/index.ts'`. */
export { Signalbox } from './client.ts';
export type { ListOperation, OperationId } from './client.ts';
export { ConnectionError, ProblemError } from './errors.ts';
export type { EventOptions, EventType, StreamEvent } from './events.ts';
export * from './generated.ts';
export { isOver } from './job-wait.ts';
export type { WaitOptions } from './job-wait.ts';
export type { CallOptions, Pause, PauseReason, TransportOptions } from './transport.ts';
