import type { Log } from '../core/log.ts';
import { AgentError } from '../core/errors.ts';
import type { Deadline, RouterAdapter } from '../routers/adapter.ts';
import type { ForwardingMemory } from './forwarding-memory.ts';

/** Setting it back takes one command; a router that does not answer gets it when it is reachable again. */
const RESTORE_TIMEOUT_MS = 10_000;

const ON_VALUES = new Set(['local', 'both', 'yes', 'true']);

/**
 * `/ip/ssh forwarding-enabled` of every router: switched on while a forward needs it, then set back to what it was.
 * The old value is on the agent's disk before anything is changed, so that a crash does not leave it on; a value that
 * somebody else has changed meanwhile is left alone.
 */
export class SshForwarding {
  readonly #memory: ForwardingMemory;
  readonly #log: Log;
  readonly #users = new Map<string, number>();
  /** One change at a time for each router. */
  readonly #turns = new Map<string, Promise<unknown>>();

  constructor(memory: ForwardingMemory, log: Log) {
    this.#memory = memory;
    this.#log = log;
  }

  /** Switches it on if needed. Every success is paid back with {@link release}. @throws AgentError */
  async acquire(router: RouterAdapter, deadline: Deadline): Promise<void> {
    this.#users.set(router.name, this.#usersOf(router) + 1);
    try {
      await this.#inTurn(router, () => this.#switchOn(router, deadline));
    } catch (error) {
      await this.release(router);
      throw error;
    }
  }

  /** Sets the old value back after the last user. Never rejects. */
  async release(router: RouterAdapter): Promise<void> {
    this.#users.set(router.name, Math.max(0, this.#usersOf(router) - 1));
    await this.restore(router);
  }

  /** Sets back what a former run of the agent or an unreachable router left switched on. Never rejects. */
  async restore(router: RouterAdapter): Promise<void> {
    try {
      await this.#inTurn(router, () => this.#switchBack(router));
    } catch (error) {
      this.#log.warn({ err: error, router: router.name }, 'forwarding-enabled of the router could not be set back yet');
    }
  }

  async #switchOn(router: RouterAdapter, deadline: Deadline): Promise<void> {
    const hardwareId = router.state().facts?.hardwareId;
    // Without it nobody could tell later whether this is the device that has to be set back.
    if (!hardwareId) throw new AgentError('router_unreachable', 'it is not known yet which device answers');
    const present = await readValue(router, deadline);
    if (ON_VALUES.has(present)) return;
    const wanted = present === 'remote' ? 'both' : 'local';
    // A record that is there already holds the value of before: somebody switched it off in between.
    if ((await this.#memory.read(router.name)) === undefined) {
      await this.#memory.write(router.name, { previous: present, hardwareId });
    }
    try {
      await writeValue(router, wanted, deadline);
    } catch (error) {
      if (!(error instanceof AgentError) || error.code !== 'rejected') throw error;
      // Early v6 knows only yes and no.
      await writeValue(router, 'yes', deadline);
    }
  }

  async #switchBack(router: RouterAdapter): Promise<void> {
    if (this.#usersOf(router) > 0) return;
    const record = await this.#memory.read(router.name);
    const { facts } = router.state();
    if (record === undefined || facts === null) return;
    const deadline = { timeoutMs: RESTORE_TIMEOUT_MS };
    // Another device under the same name was never changed.
    if (facts.hardwareId === record.hardwareId && ON_VALUES.has(await readValue(router, deadline))) {
      await writeValue(router, record.previous, deadline);
    }
    await this.#memory.forget(router.name);
  }

  #usersOf(router: RouterAdapter): number {
    return this.#users.get(router.name) ?? 0;
  }

  #inTurn<T>(router: RouterAdapter, work: () => Promise<T>): Promise<T> {
    const before = this.#turns.get(router.name) ?? Promise.resolve();
    const turn = before.catch(() => undefined).then(work);
    this.#turns.set(router.name, turn);
    return turn;
  }
}

async function readValue(router: RouterAdapter, deadline: Deadline): Promise<string> {
  if (router.hasApi) {
    const { rows } = await router.command({ path: '/ip/ssh/print', words: [] }, deadline);
    return rows[0]?.['forwarding-enabled'] ?? 'no';
  }
  const { text } = await router.console(':put [/ip ssh get forwarding-enabled]', { ...deadline, maxBytes: 1000 });
  return text.trim();
}

async function writeValue(router: RouterAdapter, value: string, deadline: Deadline): Promise<void> {
  if (router.hasApi) {
    await router.command({ path: '/ip/ssh/set', words: [`=forwarding-enabled=${value}`] }, deadline);
    return;
  }
  const { text } = await router.console(`/ip ssh set forwarding-enabled=${value}`, { ...deadline, maxBytes: 1000 });
  // A console that has nothing to complain about prints nothing.
  if (text.trim() !== '') throw new AgentError('rejected', text.trim());
}
