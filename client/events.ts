import type { Operations } from './generated.ts';
import { ConnectionError, isRetryable } from './errors.ts';
import type { Transport } from './transport.ts';
import { pauseFor } from './transport.ts';

/** Types of the stream: `router.online`, `job.completed` … */
export type EventType = NonNullable<NonNullable<Operations['streamEvents']['input']['query']>['types']>[number];

export interface StreamEvent {
  /** Position in the stream, to resume after a break. `forward.traffic` has none of its own: it is the one of the event before. */
  id: string;
  /** `resync`: events were lost and cannot be replayed; read the current state again. */
  type: EventType | 'resync';
  data: Record<string, unknown>;
}

export interface EventOptions {
  types?: readonly EventType[];
  /** Ids of forwards: the stream also has their `forward.traffic`. */
  watch?: readonly string[];
  lastEventId?: string;
  signal?: AbortSignal;
  /** Called each time the stream opens; events from this moment on are delivered. */
  onOpen?: () => void;
  /** Called each time the connection has broken or ended, before the next attempt. */
  onBroken?: () => void;
  /** Called for everything that arrives, heartbeats included, with the position to resume from. */
  onNews?: (position: string | undefined) => void;
}

/** The server sends a comment every 15 s; after three missed ones the connection counts as dead. */
const SILENCE_MS = 50_000;
const FIRST_PAUSE_MS = 500;
const LONGEST_PAUSE_MS = 30_000;
/** No event is longer. Bounds the buffer for an answer that is not an event stream. */
const LONGEST_EVENT_CHARS = 1024 * 1024;

/**
 * Events of the team's records, without end. After a broken connection it reconnects and first delivers the missed events.
 * @throws ProblemError when the server refuses (a wrong key, too many streams), the signal's reason when aborted
 */
export async function* streamEvents(transport: Transport, options: EventOptions): AsyncGenerator<StreamEvent, never> {
  const query = queryOf(options);
  let lastEventId = options.lastEventId;
  let pause = FIRST_PAUSE_MS;
  for (;;) {
    try {
      for await (const block of blocksOf(transport, query, lastEventId, options)) {
        pause = FIRST_PAUSE_MS;
        lastEventId = block.id ?? lastEventId;
        options.onNews?.(lastEventId);
        if (block.type !== undefined) yield { id: lastEventId ?? '', type: block.type as StreamEvent['type'], data: block.data };
      }
    } catch (error) {
      options.signal?.throwIfAborted();
      if (!isRetryable(error)) throw error;
    }
    // The server restarts, or the connection broke.
    options.onBroken?.();
    await pauseFor(pause * (0.5 + Math.random() / 2), options.signal);
    pause = Math.min(pause * 2, LONGEST_PAUSE_MS);
  }
}

function queryOf({ types = [], watch = [] }: EventOptions): string {
  const parts = [types.length > 0 && `types=${types.join(',')}`, watch.length > 0 && `watch=${watch.join(',')}`].filter(Boolean);
  return parts.length > 0 ? `?${parts.join('&')}` : '';
}

interface Block {
  id?: string;
  type?: string;
  data: Record<string, unknown>;
}

/** The blocks of one connection, until it ends or breaks. */
async function* blocksOf(
  transport: Transport,
  query: string,
  lastEventId: string | undefined,
  options: EventOptions,
): AsyncGenerator<Block> {
  const silence = new AbortController();
  const signal = AbortSignal.any([silence.signal, ...(options.signal ? [options.signal] : [])]);
  const notice = (): ReturnType<typeof setTimeout> => setTimeout(() => silence.abort(), SILENCE_MS);
  let watch = notice();
  try {
    const answer = await transport.open({
      method: 'GET',
      path: `/api/events${query}`,
      headers: { accept: 'text/event-stream', ...(lastEventId === undefined ? {} : { 'last-event-id': lastEventId }) },
      timeoutMs: Infinity,
      signal,
    });
    options.onOpen?.();
    let text = '';
    for await (const chunk of answer.body!.pipeThrough(new TextDecoderStream())) {
      clearTimeout(watch);
      watch = notice();
      const parts = (text + chunk).split('\n\n');
      text = parts.pop()!;
      if (text.length > LONGEST_EVENT_CHARS) throw new Error('this is not an event stream');
      for (const part of parts) yield readBlock(part);
    }
  } catch (error) {
    if (silence.signal.aborted || error instanceof TypeError) throw new ConnectionError('the event stream broke', false, error);
    throw error;
  } finally {
    clearTimeout(watch);
    silence.abort();
  }
}

function readBlock(text: string): Block {
  const block: Block = { data: {} };
  for (const line of text.split('\n')) {
    const [, name, value] = /^(\w+): ?(.*)$/.exec(line) ?? [];
    if (name === 'id') block.id = value!;
    if (name === 'event') block.type = value!;
    if (name === 'data') block.data = JSON.parse(value!) as Record<string, unknown>;
  }
  return block;
}
