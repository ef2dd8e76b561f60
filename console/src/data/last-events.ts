import type { StreamEvent } from '../../../client/browser.ts';
import { wordOf } from '../parts/state-words.ts';
import { serverNow } from './server-clock.ts';

/** One line of the last events. */
export interface Happened {
  key: string;
  at: string;
  routerId: string | undefined;
  /** In words: `not answering`, `job completed`. */
  type: string;
  /** Why, or what: a reason, a description. */
  detail: string;
}

const MOST = 8;
/** Of a fleet in trouble, more lines a second than anybody reads; the newest are shown, milliseconds. */
const TELL_MS = 500;
/** Told by other lines, or of no interest to people. */
const LEFT_OUT = new Set([
  'resync',
  'agent.updated',
  'router.online',
  'router.updated',
  'router.offline',
  'forward.traffic',
  'campaign.progress',
  'job.pending',
  'job.running',
]);

/** Records that people set up, of which every event is left out: their pages show them. */
const SETTINGS = new Set(['site', 'member', 'notification', 'group', 'topic', 'schedule', 'target', 'silence']);

/** The newest events of the stream, for people. */
export class LastEvents {
  #list: readonly Happened[] = [];
  #waiting: Happened[] = [];
  #timer: ReturnType<typeof setTimeout> | undefined;
  #count = 0;
  readonly #listeners = new Set<() => void>();

  get list(): readonly Happened[] {
    return this.#list;
  }

  add(events: readonly StreamEvent[]): void {
    for (const event of events.filter(({ type }) => isTold(type)).slice(-MOST)) {
      this.#count += 1;
      this.#waiting.unshift(happened(event, String(this.#count)));
    }
    if (this.#waiting.length > 0) this.#timer ??= setTimeout(() => this.#tell(), TELL_MS);
  }

  subscribe = (listener: () => void): (() => void) => {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  };

  #tell(): void {
    this.#timer = undefined;
    this.#list = [...this.#waiting, ...this.#list].slice(0, MOST);
    this.#waiting = [];
    for (const listener of this.#listeners) listener();
  }
}

function isTold(type: string): boolean {
  return !LEFT_OUT.has(type) && !SETTINGS.has(type.split('.')[0]!);
}

function happened({ type, data }: StreamEvent, key: string): Happened {
  const text = (name: string): string => (typeof data[name] === 'string' ? data[name] : '');
  const routerId = text('router_id') || undefined;
  const at = text('at') || text('state_since') || new Date(serverNow()).toISOString();
  if (type === 'router.changed') return { key, at, routerId, type: wordOf(text('state')), detail: text('state_reason') };
  const detail = text('description') || text('message') || text('name') || text('reason');
  return { key, at, routerId, type: wordsOfEvent(type), detail };
}

/** Names of events that the pages call otherwise. */
const WORDS: Record<string, string> = {
  'campaign.aborted': 'campaign stopped itself',
  'campaign.completed': 'campaign finished',
  'config.changed': 'configuration changed',
  'forward.authorized': 'forward opened',
  'forward.created': 'forward made',
  'forward.updated': 'forward changed',
  'job.completed': 'job done',
  'job.deleted': 'job canceled',
};

/** `job.rolled_back` is `job rolled back`. */
export function wordsOfEvent(type: string): string {
  const [subject = '', verb = ''] = type.split('.');
  return WORDS[type] ?? `${subject} ${verb.replaceAll('_', ' ')}`;
}
