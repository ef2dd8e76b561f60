/** Reads the event stream beside the page, so that a thousand events a second do not delay it. */
import { ApiClient, ProblemError } from '../../../client/browser.ts';
import type { StreamEvent } from '../../../client/browser.ts';
import type { FromWorker, ToWorker } from './live-messages.ts';

/** Pages get at most ten batches a second. */
const BATCH_MS = 100;

/** The page's types know `self` as a window. */
const page = self as unknown as { postMessage(message: FromWorker): void };
const tell = (message: FromWorker): void => page.postMessage(message);
let giveToken: (token: string) => void = () => undefined;
let token = Promise.withResolvers<string>();

self.addEventListener('message', ({ data }: MessageEvent<ToWorker>) => {
  if (data.kind === 'token') giveToken(data.token);
  else void follow(data.position);
});

/** Asks the page, which keeps the tokens. */
function askForToken(): Promise<string> {
  token = Promise.withResolvers<string>();
  giveToken = token.resolve;
  tell({ kind: 'token' });
  return token.promise;
}

async function follow(from: string): Promise<void> {
  const client = new ApiClient({ server: self.location.origin, key: askForToken });
  const batch = new Batch(from);
  try {
    const events = client.events({
      ...(from === '' ? {} : { lastEventId: from }),
      onOpen: () => tell({ kind: 'open' }),
      onNews: (position) => batch.note(position),
    });
    for await (const event of events) batch.add(event);
  } catch (error) {
    const [code, message] = error instanceof ProblemError ? [error.code, error.message] : ['internal', String(error)];
    tell({ kind: 'refused', code, message });
  }
}

/** Gathers what arrives for a tenth of a second. */
class Batch {
  #events: StreamEvent[] = [];
  #position: string;
  #timer: ReturnType<typeof setTimeout> | undefined;

  constructor(position: string) {
    this.#position = position;
  }

  add(event: StreamEvent): void {
    this.#events.push(event);
  }

  /** Called before the event of this position is added; its batch leaves later. */
  note(position: string | undefined): void {
    this.#position = position ?? this.#position;
    this.#timer ??= setTimeout(() => this.#send(), BATCH_MS);
  }

  #send(): void {
    this.#timer = undefined;
    tell({ kind: 'batch', events: this.#events, position: this.#position, at: Date.now() });
    this.#events = [];
  }
}
