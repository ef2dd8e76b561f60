import type { Signalbox } from '../../client.ts';
import { isRetryable } from '../../errors.ts';
import type { StreamEvent } from '../../events.ts';
import { ROUTERS_PAGE } from '../names.ts';
import { FleetModel } from './model.ts';
import type { Snapshot } from './model.ts';

/** The overview is read again after events, at most so often: 10 of the 60 requests a minute. */
const READ_EVERY_MS = 6000;
/** Events that come together cost one read. */
const SETTLE_MS = 100;

/** Reads the lists, and follows the event stream from where they stand. */
export class Watch {
  /** Undefined until the lists have been read. */
  model: FleetModel | undefined;
  connection = 'connecting';
  readonly #signalbox: Signalbox;
  readonly #signal: AbortSignal;
  readonly #onChange: () => void;
  readonly #failed = Promise.withResolvers<never>();
  /** When the overview was read, and when that was tried last; monotonic time. */
  #readAt = 0;
  #triedAt = 0;
  #isReading = false;
  #timer: NodeJS.Timeout | undefined;
  /** Events that came while lists were being read: the lists may know them or not. */
  #meanwhile: StreamEvent[] = [];

  constructor(signalbox: Signalbox, signal: AbortSignal, onChange: () => void) {
    this.#signalbox = signalbox;
    this.#signal = signal;
    this.#onChange = onChange;
  }

  /** The server's time: ages are right also when the clock of this machine is not. Milliseconds since 1970. */
  get now(): number {
    return (this.model?.at ?? Date.now()) + (performance.now() - this.#readAt);
  }

  /**
   * Follows the fleet until the signal is aborted.
   * @param onEvent each event, when the model knows it
   * @throws ProblemError when the server refuses, ConnectionError when it cannot be reached at the start, the signal's reason
   */
  async run(onEvent: (event: StreamEvent, model: FleetModel) => void): Promise<never> {
    try {
      return await Promise.race([this.#failed.promise, this.#follow(onEvent)]);
    } finally {
      clearTimeout(this.#timer);
    }
  }

  async #follow(onEvent: (event: StreamEvent, model: FleetModel) => void): Promise<never> {
    const position = await this.#readAll();
    const options = {
      signal: this.#signal,
      ...(position === undefined ? {} : { lastEventId: position }),
      onOpen: () => this.#setConnection('live'),
      onBroken: () => this.#setConnection('connection lost, trying again'),
    };
    for await (const event of this.#signalbox.events(options)) {
      this.model!.apply(event);
      if (this.#isReading) this.#meanwhile.push(event);
      onEvent(event, this.model!);
      this.#readSoon();
      this.#onChange();
    }
    throw new Error('the event stream has no end');
  }

  #setConnection(words: string): void {
    this.connection = words;
    this.#onChange();
  }

  /** @returns where the event stream stood before the first list was read */
  async #readAll(): Promise<string | undefined> {
    const { snapshot, eventId } = await readSnapshot(this.#signalbox, this.#signal);
    const feed = this.model?.feed ?? [];
    this.model = new FleetModel(snapshot);
    for (const event of this.#meanwhile) this.model.apply(event);
    this.model.feed.splice(0, Infinity, ...feed);
    this.#hasRead();
    return eventId;
  }

  async #readOverview(model: FleetModel): Promise<void> {
    model.isOverviewOld = false;
    const { result, at = Date.now() } = await this.#signalbox.read('getOverview', {}, { signal: this.#signal });
    Object.assign(model, { overview: result.data, at });
    this.#hasRead();
  }

  #hasRead(): void {
    this.#readAt = performance.now();
    this.#triedAt = this.#readAt;
    this.#onChange();
  }

  #readSoon(): void {
    if (this.#timer !== undefined || this.#isReading || this.model?.isOverviewOld !== true) return;
    const wait = Math.max(SETTLE_MS, this.#triedAt + READ_EVERY_MS - performance.now());
    this.#timer = setTimeout(() => void this.#readAgain(this.model!).catch(this.#failed.reject), wait);
  }

  async #readAgain(model: FleetModel): Promise<void> {
    this.#timer = undefined;
    this.#isReading = true;
    this.#meanwhile = [];
    try {
      if (model.mustReadAgain) await this.#readAll();
      else await this.#readOverview(model);
    } catch (error) {
      this.#signal.throwIfAborted();
      // The server restarts: what is on the screen stays, and the next attempt follows.
      if (!isRetryable(error)) throw error;
      model.isOverviewOld = true;
      this.#triedAt = performance.now();
    } finally {
      this.#isReading = false;
    }
    this.#readSoon();
  }
}

async function readSnapshot(signalbox: Signalbox, signal: AbortSignal): Promise<{ snapshot: Snapshot; eventId: string | undefined }> {
  const options = { signal };
  const { result, eventId, at = Date.now() } = await signalbox.read('getOverview', {}, options);
  const jobs = await signalbox.all('listTeamJobs', { query: { status: ['running'], limit: 1000 } }, options);
  const fields = ['id', 'identity', 'state', 'state_since', 'state_reason', 'agent_id', 'agent_name'] as const;
  const routers = await signalbox.all('listRouters', { query: { limit: ROUTERS_PAGE, fields: [...fields] } }, options);
  const running = jobs.map(({ id, router_id, description, started_at: started, created_at: created }) => ({
    id,
    router_id,
    description,
    since: started ?? created,
  }));
  return { snapshot: { overview: result.data, routers, jobs: running, at }, eventId };
}
