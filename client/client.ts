import type { WebSocket } from 'ws';
import type { EventOptions, StreamEvent } from './events.ts';
import { streamEvents } from './events.ts';
import type { Job, NewJob, Operations } from './generated.ts';
import { ROUTES } from './generated.ts';
import type { WaitOptions } from './job-wait.ts';
import { waitForJob } from './job-wait.ts';
import type { CallOptions, TransportOptions } from './transport.ts';
import { Transport } from './transport.ts';

export type OperationId = keyof Operations;
type Input<Id extends OperationId> = Operations[Id]['input'];
type Result<Id extends OperationId> = Operations[Id]['result'];

/** Operations whose answer is a list with pages. */
export type ListOperation = {
  [Id in OperationId]: Input<Id> extends { query?: { cursor?: string } } ? (Result<Id> extends { data: unknown[] } ? Id : never) : never;
}[OperationId];
type Item<Id extends OperationId> = Result<Id> extends { data: (infer T)[] } ? T : never;

/** What every input is made of, whatever the operation. */
interface Parts {
  path?: Record<string, string>;
  query?: Record<string, unknown>;
  body?: unknown;
}

/** Records of one request of {@link Signalbox.pages}. */
const PAGE = 200;

/** No router, or several, by a name. */
export class RouterNameError extends Error {
  override readonly name = 'RouterNameError';
}

const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;

/**
 * A control plane, for programs. Every operation of `/openapi.json` by its name, typed; a POST carries an
 * Idempotency-Key, and a request that meets the rate limit is repeated when the server says so.
 */
export class Signalbox {
  readonly #transport: Transport;

  constructor(options: TransportOptions) {
    this.#transport = new Transport(options);
  }

  /** @throws ProblemError, ConnectionError, the signal's reason */
  async call<Id extends OperationId>(id: Id, input: Input<Id>, options: CallOptions = {}): Promise<Result<Id>> {
    const { body } = await this.#transport.json({ ...options, ...requestOf(id, input) });
    return body as Result<Id>;
  }

  /** Every record of a list, newest first, fetched page by page as they are used. Throws like {@link call}. */
  async *pages<Id extends ListOperation>(id: Id, input: Input<Id>, options: CallOptions = {}): AsyncGenerator<Item<Id>> {
    const { query, ...rest } = input as Parts;
    let request = requestOf(id, { ...rest, query: { limit: PAGE, ...query } });
    for (;;) {
      const { body, headers } = await this.#transport.json({ ...options, ...request });
      yield* (body as { data: Item<Id>[] }).data;
      const next = /<([^>]+)>; rel="next"/.exec(headers.get('link') ?? '')?.[1];
      if (next === undefined) return;
      request = { method: 'GET', path: next };
    }
  }

  /** Every record of a list at once. Throws like {@link call}. */
  async all<Id extends ListOperation>(id: Id, input: Input<Id>, options: CallOptions = {}): Promise<Item<Id>[]> {
    const records: Item<Id>[] = [];
    for await (const record of this.pages(id, input, options)) records.push(record);
    return records;
  }

  /** What happens to the team's records, from now on and without end. */
  events(options: EventOptions = {}): AsyncGenerator<StreamEvent, never> {
    return streamEvents(this.#transport, options);
  }

  /**
   * The id of a router that is named by its id, or by its identity if that is unique in the team. An id is not looked up.
   * @throws RouterNameError
   */
  async routerIdOf(name: string, options: CallOptions = {}): Promise<string> {
    if (UUID.test(name)) return name.toLowerCase();
    const found: string[] = [];
    for await (const { id, identity } of this.pages('listRouters', {}, options)) if (identity === name) found.push(id);
    if (found.length > 1) throw new RouterNameError(`${found.length} routers are called ${name}: ${found.join(', ')}`);
    if (found[0] === undefined) throw new RouterNameError(`no router is called ${name}`);
    return found[0];
  }

  /** A TCP connection of a forward: bytes as binary messages, an empty one as half-close. The README says more. */
  connectForward(routerId: string, forwardId: string): WebSocket {
    const path = `/api/routers/${encodeURIComponent(routerId)}/transient-forwarding/${encodeURIComponent(forwardId)}/connect`;
    return this.#transport.webSocket(path, 'signalbox.connect.v1');
  }

  /** Runs a command on a router. @returns its rows */
  async run(routerId: string, command: string, parameters = '', options: CallOptions = {}): Promise<Record<string, string>[]> {
    const { data } = await this.call('runCommand', { path: { router_id: routerId }, body: { command, parameters } }, options);
    return data;
  }

  /** Submits a script. @returns the job's id; the job is then on the server's disk */
  async submitJob(routerId: string, job: NewJob, options: CallOptions = {}): Promise<string> {
    const { data } = await this.call('submitJob', { path: { router_id: routerId }, body: job }, options);
    return data.job_id;
  }

  async getJob(routerId: string, jobId: string, options: CallOptions = {}): Promise<Job> {
    const { data } = await this.call('getJob', { path: { router_id: routerId, job_id: jobId } }, options);
    return data;
  }

  /** The job as soon as it is over, whatever came of it. */
  waitForJob(routerId: string, jobId: string, options: WaitOptions = {}): Promise<Job> {
    const read = (signal: AbortSignal): Promise<Job> => this.getJob(routerId, jobId, { signal });
    return waitForJob(jobId, { read, events: (eventOptions) => this.events(eventOptions) }, options);
  }
}

function requestOf(id: OperationId, { path = {}, query = {}, body }: Parts): { method: string; path: string; body?: unknown } {
  const route = ROUTES[id];
  const place = route.path.replaceAll(/\{(\w+)\}/g, (_all, name: string) => encodeURIComponent(path[name]!));
  const search = new URLSearchParams();
  for (const [name, value] of Object.entries(query)) {
    for (const one of Array.isArray(value) ? value : [value]) if (one !== undefined) search.append(name, String(one));
  }
  return { method: route.method, path: search.size === 0 ? place : `${place}?${search.toString()}`, ...(body === undefined ? {} : { body }) };
}
