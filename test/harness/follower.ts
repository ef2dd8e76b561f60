import type { Caller, World } from './world.ts';

/** What a client of the interface knows of one record, in the fields by which the lists and the events name it. */
type Known = Record<string, unknown>;

/** The lists that a follower keeps up to date, and what it keeps of each record. */
const LISTS = {
  routers: {
    path: '/api/routers?limit=2',
    keep: ({ id, identity, state, state_reason: reason }: Known) => [id, { identity, state, reason }],
  },
  jobs: { path: '/api/jobs?limit=7', keep: ({ id, status }: Known) => [id, { status }] },
  faults: { path: '/api/faults?limit=3', keep: ({ id, type, status, occurrences }: Known) => [id, { type, status, occurrences }] },
  forwards: {
    path: '/api/transient-forwarding?limit=3',
    keep: ({ id, revoked_early: early, expires_at: expires, allow_only_cidr: from, closed_at: closed }: Known) => [
      id,
      { early, expires, from, isClosed: closed !== null },
    ],
  },
} as const satisfies Record<string, { path: string; keep: (record: Known) => unknown[] }>;

type ListName = keyof typeof LISTS;

/** All records of the team, by list and id. */
export type Truth = Record<ListName, Record<string, Known>>;

type Read = (path: string) => Promise<Response>;

/** Reads all lists, page by page. @returns also the event position of the first answer */
export async function readTruth(read: Read): Promise<{ truth: Truth; position: string }> {
  const truth: Truth = { routers: {}, jobs: {}, faults: {}, forwards: {} };
  let position: string | null = null;
  for (const name of Object.keys(LISTS) as ListName[]) {
    for (let next: string | undefined = LISTS[name].path; next !== undefined;) {
      const answer: Response = await read(next);
      position ??= answer.headers.get('x-event-id');
      for (const record of ((await answer.json()) as { data: Known[] }).data) {
        const [id, kept] = LISTS[name].keep(record);
        truth[name][String(id)] = kept as Known;
      }
      next = /<([^>]*)>/.exec(answer.headers.get('link') ?? '')?.[1];
    }
  }
  return { truth, position: position! };
}

/** How each event changes what a client knows. `undefined` removes the record. */
const EVENTS: { type: RegExp; list: ListName; id: string; change: (data: Known, type: string) => Known | undefined }[] = [
  {
    type: /^router\.changed$/,
    list: 'routers',
    id: 'router_id',
    change: ({ identity, state, state_reason: reason }) => ({ identity, state, reason }),
  },
  { type: /^router\.removed$/, list: 'routers', id: 'router_id', change: () => undefined },
  { type: /^job\./, list: 'jobs', id: 'job_id', change: ({ status }) => ({ status }) },
  {
    type: /^fault\./,
    list: 'faults',
    id: 'fault_id',
    change: ({ type, occurrences }, event) => ({ type, status: event === 'fault.opened' ? 'open' : 'resolved', occurrences }),
  },
  {
    type: /^forward\./,
    list: 'forwards',
    id: 'forward_id',
    change: ({ revoked_early: early, expires_at: expires, allow_only_cidr: from }, event) => ({
      early,
      expires,
      from,
      isClosed: event === 'forward.closed',
    }),
  },
];

/** A client that reads the lists once, and from then on only the stream of events behind them. */
export class Follower {
  readonly truth: Truth;
  /** Why it cannot go on: the stream had forgotten where the lists were read. */
  lost: string | undefined;
  readonly #stop = new AbortController();
  #reading: Promise<void> = Promise.resolve();

  private constructor(truth: Truth) {
    this.truth = truth;
  }

  static async start({ server }: World, { apiKey }: Caller): Promise<Follower> {
    const headers = { authorization: `Bearer ${apiKey}` };
    const { truth, position } = await readTruth((path) => fetch(`${server.url}${path}`, { headers }));
    const follower = new Follower(truth);
    const stream = await fetch(`${server.url}/api/events`, {
      headers: { ...headers, 'last-event-id': position },
      signal: follower.#stop.signal,
    });
    if (stream.status !== 200) throw new Error(`no event stream: ${stream.status} ${await stream.text()}`);
    follower.#reading = follower.#read(stream.body!).catch((error: unknown) => {
      if (!follower.#stop.signal.aborted) follower.lost = String(error);
    });
    return follower;
  }

  async stop(): Promise<void> {
    this.#stop.abort();
    await this.#reading;
  }

  async #read(body: ReadableStream<Uint8Array>): Promise<void> {
    let text = '';
    for await (const chunk of body.pipeThrough(new TextDecoderStream())) {
      text += chunk;
      const events = text.split('\n\n');
      text = events.pop()!;
      for (const event of events) this.#apply(event);
    }
  }

  #apply(event: string): void {
    const type = /^event: (.*)$/m.exec(event)?.[1];
    const data = /^data: (.*)$/m.exec(event)?.[1];
    if (type === undefined || data === undefined) return;
    if (type === 'resync') this.lost = data;
    const rule = EVENTS.find((one) => one.type.test(type));
    if (!rule) return;
    const fields = JSON.parse(data) as Known;
    const records = this.truth[rule.list];
    const changed = rule.change(fields, type);
    if (changed === undefined) delete records[String(fields[rule.id])];
    else records[String(fields[rule.id])] = changed;
  }
}
