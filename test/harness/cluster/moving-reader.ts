/** What a reader of the event stream was sent. */
export interface SentEvent {
  id: string;
  type: string;
  data: Record<string, unknown>;
}

/** A reader of a team's event stream that moves from one control plane to the next, as behind a balancer. */
export class MovingReader {
  readonly events: SentEvent[] = [];
  readonly #apiKey: string;
  #lastId: string | undefined;
  #current: { abort: AbortController; ended: Promise<void> } | undefined;
  moves = 0;

  constructor(apiKey: string, lastId?: string) {
    this.#apiKey = apiKey;
    this.#lastId = lastId;
  }

  /** Leaves where it was and reads on there. Resolves when the stream has begun. @param url of a control plane */
  async moveTo(url: string): Promise<void> {
    await this.leave();
    const abort = new AbortController();
    const headers = { authorization: `Bearer ${this.#apiKey}`, ...(this.#lastId === undefined ? {} : { 'last-event-id': this.#lastId }) };
    const answer = await fetch(`${url}/api/events`, { headers, signal: abort.signal });
    if (answer.status !== 200) throw new Error(`the event stream answers ${answer.status}: ${await answer.text()}`);
    this.moves += 1;
    this.#current = { abort, ended: this.#read(answer.body!).catch(() => undefined) };
  }

  async leave(): Promise<void> {
    this.#current?.abort.abort();
    await this.#current?.ended;
    this.#current = undefined;
  }

  async #read(body: ReadableStream<Uint8Array>): Promise<void> {
    let text = '';
    for await (const chunk of body.pipeThrough(new TextDecoderStream())) {
      text += chunk;
      const blocks = text.split('\n\n');
      text = blocks.pop()!;
      for (const block of blocks) this.#take(block);
    }
  }

  #take(block: string): void {
    const fields = new Map(block.split('\n').map((line) => [line.slice(0, line.indexOf(': ')), line.slice(line.indexOf(': ') + 2)]));
    const id = fields.get('id');
    if (id !== undefined) this.#lastId = id;
    const [type, data] = [fields.get('event'), fields.get('data')];
    if (type !== undefined && data !== undefined) this.events.push({ id: id ?? '', type, data: JSON.parse(data) as SentEvent['data'] });
  }
}

/** What is wrong with what a reader was sent: `n` counts the events of each `from`. */
export function faultsOf(events: readonly SentEvent[], published: ReadonlyMap<string, number>): string[] {
  const faults: string[] = [];
  const last = new Map<string, number>();
  let lastNumber = -1;
  for (const { id, type, data } of events) {
    if (type === 'resync') faults.push(`resync: ${String(data.reason)}`);
    if (typeof data.n !== 'number') continue;
    const [from, n, number] = [String(data.from), data.n, Number(id.split('.')[1])];
    if (n !== (last.get(from) ?? 0) + 1) faults.push(`${n} of ${from} came after ${last.get(from) ?? 0}`);
    if (number <= lastNumber) faults.push(`${id} came after ${lastNumber}`);
    last.set(from, n);
    lastNumber = number;
  }
  for (const [from, count] of published) if (last.get(from) !== count) faults.push(`of ${from} ${last.get(from) ?? 0} of ${count} came`);
  return faults;
}
