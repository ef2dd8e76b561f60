import { Trap, type CommandCall, type CommandResult, type Row } from '../menu/types.ts';
import type { SimulatedRouter } from '../router.ts';
import type { SendQueue } from './send-queue.ts';
import type { Request } from './request.ts';

/** A client that never reads its answers cannot make the router remember more than this. */
const MOST_PENDING = 50_000;
/** Rows are sent in portions, so that a long table does not hold up other sessions. */
const PORTION = 500;
/** Commands whose answer is a list of rows: an empty one is announced from 7.18. */
const LISTING = new Set(['print', 'getall']);

interface Pending {
  readonly request: Request;
  readonly controller: AbortController;
}

export interface Caller {
  user: string;
  address: string;
}

/** Runs the commands of one connection, any number at a time, and answers each under its tag. */
export class CommandRunner {
  readonly #router: SimulatedRouter;
  readonly #sendQueue: SendQueue;
  readonly #pending = new Set<Pending>();

  constructor(router: SimulatedRouter, sendQueue: SendQueue) {
    this.#router = router;
    this.#sendQueue = sendQueue;
  }

  /** Sends sentences for a request, its tag right after each reply word, after the configured delay. */
  reply(request: Request, sentences: readonly (readonly string[])[]): void {
    const send = (): void => sentences.forEach((words) => this.#send(request, words));
    const delayMs = this.#router.options.latencyMs + this.#router.faults.delayMs;
    if (delayMs > 0) this.#router.time.after(delayMs, send);
    else send();
  }

  start(request: Request, caller: Caller): void {
    if (this.#pending.size >= MOST_PENDING) return this.reply(request, trapWords(new Trap('failure: too many commands')));
    const pending = { request, controller: new AbortController() };
    this.#pending.add(pending);
    // #run reports every failure to the client and never rejects.
    void this.#run(pending, caller);
  }

  /** `/cancel`: each cancelled command gets its trap first, then /cancel its `!done`, then they theirs. */
  cancel(request: Request): void {
    const wanted = request.attributes.get('tag');
    const tags = wanted?.split(',');
    const chosen = [...this.#pending].filter((each) => !tags || tags.includes(each.request.tag ?? ''));
    for (const each of chosen) {
      this.#pending.delete(each);
      each.controller.abort();
      this.reply(each.request, [['!trap', '=category=2', '=message=interrupted']]);
    }
    this.reply(request, [['!done']]);
    for (const each of chosen) this.reply(each.request, [['!done']]);
  }

  /** The connection is gone: running commands are interrupted and their answers dropped. */
  abort(): void {
    for (const each of this.#pending) each.controller.abort();
    this.#pending.clear();
  }

  #send(request: Request, [word = '', ...rest]: readonly string[]): void {
    this.#sendQueue.send(request.tag === undefined ? [word, ...rest] : [word, `.tag=${request.tag}`, ...rest]);
  }

  async #run(pending: Pending, caller: Caller): Promise<void> {
    const { request } = pending;
    try {
      const result = await this.#router.menus.run(this.#call(pending, caller));
      if (this.#pending.has(pending)) await this.#answer(pending, result);
    } catch (error) {
      if (this.#pending.has(pending)) this.reply(request, [...trapWords(error).map((words) => this.#spoilTrap(request, words)), ['!done']]);
    } finally {
      this.#pending.delete(pending);
    }
  }

  #call(pending: Pending, { user, address }: Caller): CommandCall {
    const { request, controller } = pending;
    const attributes = new Map(request.attributes);
    if (request.command === 'print') attributes.delete('count-only');
    const session = { user, address, policies: this.#router.policiesOf(user), origin: 'api' as const, signal: controller.signal };
    const onRow = (row: Row): void => {
      if (this.#pending.has(pending)) this.#sendRow(request, row);
    };
    return { session, path: request.path, command: request.command, attributes, onRow };
  }

  async #answer(pending: Pending, result: CommandResult): Promise<void> {
    const { request } = pending;
    const rows = result.rows.filter(request.passes);
    if (request.attributes.has('count-only')) return this.reply(request, [['!done', `=ret=${rows.length}`]]);
    await this.#sendRows(pending, rows);
    if (!this.#pending.has(pending)) return;
    const last = result.ret === undefined ? [] : [`=ret=${this.#said(request, 'ret', result.ret)}`];
    const isEmpty = rows.length === 0 && LISTING.has(request.command) && this.#router.version.atLeast('7.18');
    this.reply(request, isEmpty ? [['!empty'], ['!done', ...last]] : [['!done', ...last]]);
  }

  async #sendRows(pending: Pending, rows: readonly Row[]): Promise<void> {
    for (let at = 0; at < rows.length; at += PORTION) {
      this.reply(
        pending.request,
        rows.slice(at, at + PORTION).map((row) => rowWords(pending.request, this.#spoilRow(pending.request, row))),
      );
      if (rows.length <= PORTION) return;
      await this.#sendQueue.ready();
      await new Promise((resolve) => setImmediate(resolve));
      if (!this.#pending.has(pending)) return;
    }
  }

  #sendRow(request: Request, row: Row): void {
    if (row.has('.dead') || request.passes(row)) this.reply(request, [rowWords(request, this.#spoilRow(request, row))]);
  }

  #said(request: Request, name: string, value: string): string {
    return this.#router.faults.spoil?.(request.path, name, value) ?? value;
  }

  #spoilRow(request: Request, row: Row): Row {
    if (!this.#router.faults.spoil) return row;
    return new Map([...row].map(([name, value]) => [name, this.#said(request, name, value)]));
  }

  #spoilTrap(request: Request, words: readonly string[]): string[] {
    return words.map((word) =>
      word.startsWith('=message=') ? `=message=${this.#said(request, 'message', word.slice('=message='.length))}` : word,
    );
  }
}

function rowWords(request: Request, row: Row): string[] {
  const wanted = request.proplist;
  const shown = wanted && !row.has('.dead') ? [...row].filter(([name]) => wanted.includes(name)) : [...row];
  return ['!re', ...shown.map(([name, value]) => `=${name}=${value}`)];
}

function trapWords(error: unknown): string[][] {
  if (!(error instanceof Trap)) return [['!trap', `=message=failure: simulator error: ${String(error)}`]];
  const category = error.category === undefined ? [] : [`=category=${error.category}`];
  const first = ['!trap', ...category, `=message=${error.message}`];
  return error.next ? [first, ...trapWords(error.next)] : [first];
}
