import type { EventOptions, StreamEvent } from './events.ts';
import { streamEvents } from './events.ts';
import type { Job, NewJob, Operations } from './generated.ts';
import { ROUTES } from './generated.ts';
import type { WaitOptions } from './job-wait.ts';
import { waitForJob } from './job-wait.ts';
import type { CallOptions, TransportOptions } from './transport.ts';
import { Transport } from './transport.ts';

export type OperationId = keyof Operations;
export type Input<Id extends OperationId> = Operations[Id]['input'];
export type Result<Id extends OperationId> = Operations[Id]['result'];

/** Operations that answer with a paged list. */
export type ListOperation = {
  [Id in OperationId]: Input<Id> extends { query?: { cursor?: string } } ? (Result<Id> extends { data: unknown[] } ? Id : never) : never;
}[OperationId];
/** One record of a list. */
export type ListItem<Id extends OperationId> = Result<Id> extends { data: (infer T)[] } ? T : never;

export interface Answer<T> {
  result: T;
  /** Where the event stream stood before anything was read for the answer: `lastEventId` of {@link ApiClient.events}. */
  eventId: string | undefined;
  /** The server's time, milliseconds since 1970, to the second. */
  at: number | undefined;
  /** `cursor` of a list's next page; undefined on its last. */
  next: string | undefined;
}

/** The parts of every operation's input. */
interface Parts {
  path?: Record<string, string>;
  query?: Record<string, unknown>;
  body?: unknown;
}

/** Records per request of {@link ApiClient.pages}. */
const PAGE = 200;

/**
 * Client of a control plane: every operation of `/openapi.json` by name, typed. A POST or PATCH carries an Idempotency-Key. A
 * rate-limited request is retried when the server allows it. Instead of a router's id, its identity works too if it is unique
 * in the team. Uses nothing that a browser lacks.
 */
export class ApiClient {
  protected readonly transport: Transport;
  /** Host of the control plane, with its port unless that is the usual one. */
  readonly host: string;

  constructor(options: TransportOptions) {
    this.transport = new Transport(options);
    this.host = new URL(options.server).host;
  }

  /** @throws ProblemError, ConnectionError, the signal's reason */
  async call<Id extends OperationId>(id: Id, input: Input<Id>, options: CallOptions = {}): Promise<Result<Id>> {
    return (await this.read(id, input, options)).result;
  }

  /** Like {@link call}, with what the headers of the answer say. For lists that {@link events} keep up to date. */
  async read<Id extends OperationId>(id: Id, input: Input<Id>, options: CallOptions = {}): Promise<Answer<Result<Id>>> {
    const { body, headers } = await this.transport.json({ ...options, ...requestOf(id, input) });
    const at = Date.parse(headers.get('date') ?? '');
    return {
      result: body as Result<Id>,
      eventId: headers.get('x-event-id') ?? undefined,
      at: Number.isNaN(at) ? undefined : at,
      next: new URLSearchParams(nextPage(headers)?.split('?')[1]).get('cursor') ?? undefined,
    };
  }

  /** The bytes of an answer that is not JSON, such as a backup. Throws like {@link call}. */
  async file<Id extends OperationId>(id: Id, input: Input<Id>, options: CallOptions = {}): Promise<Blob> {
    const answer = await this.transport.open({ ...options, ...requestOf(id, input) });
    return answer.blob();
  }

  /** Every record of a list, newest first, fetched page by page on demand. Throws like {@link call}. */
  async *pages<Id extends ListOperation>(id: Id, input: Input<Id>, options: CallOptions = {}): AsyncGenerator<ListItem<Id>> {
    const { query, ...rest } = input as Parts;
    let request = requestOf(id, { ...rest, query: { limit: PAGE, ...query } });
    for (;;) {
      const { body, headers } = await this.transport.json({ ...options, ...request });
      yield* (body as { data: ListItem<Id>[] }).data;
      const next = nextPage(headers);
      if (next === undefined) return;
      request = { method: 'GET', path: next };
    }
  }

  /** Every record of a list at once. Throws like {@link call}. */
  async all<Id extends ListOperation>(id: Id, input: Input<Id>, options: CallOptions = {}): Promise<ListItem<Id>[]> {
    const records: ListItem<Id>[] = [];
    for await (const record of this.pages(id, input, options)) records.push(record);
    return records;
  }

  /** Events of the team's records, from now on and without end. */
  events(options: EventOptions = {}): AsyncGenerator<StreamEvent, never> {
    return streamEvents(this.transport, options);
  }

  /** Runs a command on a router. @returns its rows */
  async run(routerId: string, command: string, parameters = '', options: CallOptions = {}): Promise<Record<string, string>[]> {
    const { data } = await this.call('runCommand', { path: { router_id: routerId }, body: { command, parameters } }, options);
    return data;
  }

  /** Submits a script. @returns the job's id, once the server has stored the job */
  async submitJob(routerId: string, job: NewJob, options: CallOptions = {}): Promise<string> {
    const { data } = await this.call('submitJob', { path: { router_id: routerId }, body: job }, options);
    return data.job_id;
  }

  async getJob(routerId: string, jobId: string, options: CallOptions = {}): Promise<Job> {
    const { data } = await this.call('getJob', { path: { router_id: routerId, job_id: jobId } }, options);
    return data;
  }

  /** Resolves with the job when it has ended, in any final status. */
  waitForJob(routerId: string, jobId: string, options: WaitOptions = {}): Promise<Job> {
    const read = (signal: AbortSignal): Promise<Job> => this.getJob(routerId, jobId, { signal });
    return waitForJob(jobId, { read, events: (eventOptions) => this.events(eventOptions) }, options);
  }
}

/** Path of a list's next page, which the server names (RFC 8288). */
function nextPage(headers: Headers): string | undefined {
  return /<([^>]+)>; rel="next"/.exec(headers.get('link') ?? '')?.[1];
}

export function requestOf(id: OperationId, { path = {}, query = {}, body }: Parts): { method: string; path: string; body?: unknown } {
  const route = ROUTES[id];
  const place = route.path.replaceAll(/\{(\w+)\}/g, (_all, name: string) => encodeURIComponent(path[name]!));
  const search = new URLSearchParams();
  for (const [name, value] of Object.entries(query)) {
    for (const one of Array.isArray(value) ? value : [value]) if (one !== undefined) search.append(name, String(one));
  }
  return {
    method: route.method,
    path: search.size === 0 ? place : `${place}?${search.toString()}`,
    ...(body === undefined ? {} : { body }),
  };
}
