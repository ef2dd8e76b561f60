/** Reads the event stream beside the page, so that a thousand events a second do not delay it. */
import { ApiClient, ProblemError } from '../../../client/browser.ts';
import type { StreamEvent } from '../../../client/browser.ts';
import type { FromWorker, ToWorker } from './live-messages.ts';

/** Pages get at most ten batches a second. */
const BATCH_MS = 100;

/** The page's types know `self` as a window. */
const page = self as unknown as { postMessage(message: FromWorker): void };
const tell = (message: FromWorker): void => page.postMessage(message);
let asked = Promise.withResolvers<string>();

self.addEventListener('message', ({ data }: MessageEvent<ToWorker>) => {
  if (data.kind === 'start') void follow(data.position, data.watch);
  else if (data.kind === 'watch') watchOthers(data.watch);
  else if (data.token === null) asked.reject(new Error('the control plane gives no token'));
  else asked.resolve(data.token);
});

/** Asks the page, which keeps the tokens. A rejection counts as a broken connection: the stream tries again. */
function askForToken(): Promise<string> {
  asked = Promise.withResolvers<string>();
  tell({ kind: 'token' });
  return asked.promise;
}

let batch: Batch | undefined;
let open = new AbortController();

/** The stream is opened anew from where it stands: nothing is lost between. */
function watchOthers(watch: readonly string[]): void {
  open.abort();
  if (batch) void follow(batch.position, watch);
}

async function follow(from: string, watch: readonly string[]): Promise<void> {
  const { signal } = (open = new AbortController());
  const client = new ApiClient({ server: self.location.origin, key: askForToken });
  const gathered = (batch ??= new Batch(from));
  try {
    const events = client.events({
      ...(from === '' ? {} : { lastEventId: from }),
      watch,
      signal,
      onOpen: () => tell({ kind: 'open' }),
      onNews: (position) => gathered.note(position),
    });
    for await (const event of events) gathered.add(event);
  } catch (error) {
    if (signal.aborted) return;
    tell({ kind: 'refused', message: error instanceof ProblemError ? error.message : String(error) });
  }
}

/** Gathers what arrives for a tenth of a second. */
class Batch {
  #events: StreamEvent[] = [];
  position: string;
  #timer: ReturnType<typeof setTimeout> | undefined;

  constructor(position: string) {
    this.position = position;
  }

  add(event: StreamEvent): void {
    this.#events.push(event);
  }

  /** Called before the event of this position is added; its batch leaves later. */
  note(position: string | undefined): void {
    this.position = position ?? this.position;
    this.#timer ??= setTimeout(() => this.#send(), BATCH_MS);
  }

  #send(): void {
    this.#timer = undefined;
    tell({ kind: 'batch', events: this.#events, position: this.position, at: Date.now() });
    this.#events = [];
  }
}
