import type { Clock } from '../core/clock.ts';
import type { Log } from '../core/log.ts';
import { AgentError } from '../core/errors.ts';
import type { Deadline, RouterAdapter } from '../routers/adapter.ts';
import { sshForwardingMark } from './agent-tag.ts';
import { runCommand } from './run-command.ts';
import { armFailSafe, disarmFailSafe, isSameEnd } from './fail-safe.ts';
import type { FailSafe, Undoing } from './fail-safe.ts';
import type { ForwardingMemory, ForwardingRecord, NamedDevice } from './forwarding-memory.ts';

/** For restoring the value, which takes one command. An unreachable router is restored when it is back. */
const RESTORE_TIMEOUT_MS = 10_000;

export interface SshForwardingOptions {
  memory: ForwardingMemory;
  log: Log;
  clock: Clock;
  /** Prefix of everything that this agent writes on a router. */
  agentTag: () => Promise<string>;
}

interface Change {
  previous: string;
  set: string;
}

interface Armed {
  kind: FailSafe;
  /** By `sinceBoot`. */
  overAt: number;
}

const ON_VALUES = new Set(['local', 'both', 'yes', 'true']);

/**
 * `/ip/ssh forwarding-enabled` of every router: switched on while a forward needs it, then restored. The old and the new value are
 * on the agent's disk before anything is changed, so that a crash does not leave it on. Only a value that is still the agent's own
 * is restored; a value that somebody else has set stays. Records are kept by device: a router that was replaced while forwarding
 * was on is restored when it answers again. Without the agent, the router restores the value by itself.
 */
export class SshForwarding {
  readonly #memory: ForwardingMemory;
  readonly #log: Log;
  readonly #clock: Clock;
  readonly #agentTag: () => Promise<string>;
  /** When each use of a device ends, by `sinceBoot`; the object that {@link acquire} returned names the use. */
  readonly #uses = new Map<string, Map<NamedDevice, number>>();
  /** How and when each device restores the value by itself. */
  readonly #armed = new Map<string, Armed>();
  /** One change at a time for each device. */
  readonly #turns = new Map<string, Promise<unknown>>();

  constructor({ memory, log, clock, agentTag }: SshForwardingOptions) {
    this.#memory = memory;
    this.#log = log;
    this.#clock = clock;
    this.#agentTag = agentTag;
  }

  /**
   * Switches forwarding on if needed, for `forMs` milliseconds.
   * @returns the device; the caller must {@link release} this very object
   * @throws AgentError
   */
  async acquire(router: RouterAdapter, forMs: number, deadline: Deadline): Promise<NamedDevice> {
    const device = presentDevice(router);
    // Needed to identify the device again when the value is restored.
    if (!device) throw new AgentError('router_unreachable', 'it is not known yet which device answers');
    const uses = this.#usesOf(device);
    this.#uses.set(keyOf(device), uses.set(device, this.#clock.sinceBoot() + forMs));
    try {
      await this.#inTurn(device, () => this.#switchOn(router, device, deadline));
      return device;
    } catch (error) {
      await this.release(router, device);
      throw error;
    }
  }

  /** How the device restores the value by itself; undefined when it was on before. */
  failSafeOf(device: NamedDevice): FailSafe | undefined {
    return this.#armed.get(keyOf(device))?.kind;
  }

  /** The use now ends after `forMs` milliseconds; the device's fail-safe follows the use that ends last. @throws AgentError */
  async renew(router: RouterAdapter, device: NamedDevice, forMs: number, deadline: Deadline): Promise<void> {
    const uses = this.#usesOf(device);
    if (!uses.has(device)) return;
    uses.set(device, this.#clock.sinceBoot() + forMs);
    await this.#inTurn(device, async () => {
      // Without one, forwarding was on before and stays on.
      const record = this.#armed.has(keyOf(device)) ? await this.#memory.read(device) : undefined;
      if (!record) return;
      checkPresent(router, device);
      await this.#arm(router, device, record, deadline);
    });
  }

  /** Restores the old value after the last user, or when the device answers again. Never rejects. */
  async release(router: RouterAdapter, device: NamedDevice): Promise<void> {
    const uses = this.#usesOf(device);
    uses.delete(device);
    if (uses.size === 0) this.#uses.delete(keyOf(device));
    await this.restore(router);
  }

  /** Restores a value that an earlier run left switched on, or that could not be restored before. Never rejects. */
  async restore(router: RouterAdapter): Promise<void> {
    const device = presentDevice(router);
    if (!device) return;
    try {
      await this.#inTurn(device, () => this.#switchBack(router, device));
    } catch (error) {
      this.#log.warn({ err: error, router: router.name }, 'forwarding-enabled of the router could not be restored yet');
    }
  }

  async #switchOn(router: RouterAdapter, device: NamedDevice, deadline: Deadline): Promise<void> {
    const present = await readValue(router, deadline);
    checkPresent(router, device);
    if (ON_VALUES.has(present)) {
      const record = await this.#memory.read(device);
      if (record && isOurs(present, record)) await this.#arm(router, device, record, deadline);
      return;
    }
    // Replaces an older record: somebody has switched it off since, and that value must be restored.
    const change = (set: string): Promise<void> => this.#change(router, device, { previous: present, set }, deadline);
    try {
      await change(onValueAfter(present));
    } catch (error) {
      if (!(error instanceof AgentError) || error.code !== 'rejected') throw error;
      // Early v6 knows only yes and no.
      await change('yes');
    }
  }

  async #change(router: RouterAdapter, device: NamedDevice, change: Change, deadline: Deadline): Promise<void> {
    await this.#memory.write(device, change);
    this.#armed.delete(keyOf(device));
    await this.#arm(router, device, change, deadline);
    await writeValue(router, change.set, deadline);
  }

  /** Arms the fail-safe for the use that ends last. */
  async #arm(
    router: RouterAdapter,
    device: NamedDevice,
    change: { previous: string; set?: string | undefined },
    deadline: Deadline,
  ): Promise<void> {
    const now = this.#clock.sinceBoot();
    const overAt = Math.max(now, ...this.#usesOf(device).values());
    const armed = this.#armed.get(keyOf(device));
    if (armed && isSameEnd(armed.overAt, overAt)) return;
    const undoing = switchingBack(sshForwardingMark(await this.#agentTag()), change);
    const kind = await armFailSafe(router, undoing, Math.ceil((overAt - now) / 1000), deadline);
    this.#armed.set(keyOf(device), { kind, overAt });
  }

  async #switchBack(router: RouterAdapter, device: NamedDevice): Promise<void> {
    if (this.#usesOf(device).size > 0) return;
    const record = await this.#memory.read(device);
    if (record === undefined) return;
    const deadline = { timeoutMs: RESTORE_TIMEOUT_MS };
    const present = await readValue(router, deadline);
    checkPresent(router, device);
    if (isOurs(present, record)) await writeValue(router, record.previous, deadline);
    await disarmFailSafe(router, sshForwardingMark(await this.#agentTag()), deadline);
    this.#armed.delete(keyOf(device));
    await this.#memory.forget(device);
  }

  #usesOf(device: NamedDevice): Map<NamedDevice, number> {
    return this.#uses.get(keyOf(device)) ?? new Map<NamedDevice, number>();
  }

  #inTurn<T>(device: NamedDevice, work: () => Promise<T>): Promise<T> {
    const key = keyOf(device);
    const before = this.#turns.get(key) ?? Promise.resolve();
    const turn = before.catch(() => undefined).then(work);
    this.#turns.set(key, turn);
    const end = (): void => {
      if (this.#turns.get(key) === turn) this.#turns.delete(key);
    };
    turn.then(end, end);
    return turn;
  }
}

/** Restores only a value that is still the agent's own, as in {@link isOurs}. */
function switchingBack(mark: string, { previous, set = onValueAfter(previous) }: { previous: string; set?: string | undefined }): Undoing {
  const ours = set === 'yes' ? ['yes', 'true'] : [set];
  const isStillOurs = ours.map((value) => `($signalboxForwarding = "${value}")`).join(' || ');
  const source =
    ':local signalboxForwarding [:tostr [/ip ssh get forwarding-enabled]]; ' +
    `:if (${isStillOurs}) do={ /ip ssh set forwarding-enabled=${previous === 'false' ? 'no' : previous} }`;
  // Not at boot: forwards outlast a reboot.
  return { mark, source, atBoot: false };
}

function onValueAfter(previous: string): string {
  return previous === 'remote' ? 'both' : 'local';
}

/** Whether it is the value that the agent set. The API prints `true` for the `yes` of early v6. */
function isOurs(present: string, { previous, set }: ForwardingRecord): boolean {
  const isYes = present === 'yes' || present === 'true';
  return isYes ? set === undefined || set === 'yes' : present === (set ?? onValueAfter(previous));
}

function keyOf({ router, hardwareId }: NamedDevice): string {
  return JSON.stringify([router, hardwareId]);
}

/** Undefined while it is not known which device answers. */
function presentDevice(router: RouterAdapter): NamedDevice | undefined {
  const hardwareId = router.state().facts?.hardwareId;
  return hardwareId ? { router: router.name, hardwareId } : undefined;
}

/** Checks that the same device still answers. @throws AgentError `wrong_router` */
function checkPresent(router: RouterAdapter, device: NamedDevice): void {
  const hardwareId = presentDevice(router)?.hardwareId;
  if (hardwareId !== device.hardwareId)
    throw new AgentError('wrong_router', `another device (${hardwareId ?? 'unknown'}) answers at ${router.name}`);
}

async function readValue(router: RouterAdapter, deadline: Deadline): Promise<string> {
  if (router.hasApi) {
    const { rows } = await runCommand(router, { path: '/ip/ssh/print', words: [] }, deadline);
    return rows[0]?.['forwarding-enabled'] ?? 'no';
  }
  const { text } = await router.console(':put [/ip ssh get forwarding-enabled]', { ...deadline, maxBytes: 1000 });
  return text.trim();
}

async function writeValue(router: RouterAdapter, value: string, deadline: Deadline): Promise<void> {
  if (router.hasApi) {
    await runCommand(router, { path: '/ip/ssh/set', words: [`=forwarding-enabled=${value}`] }, deadline);
    return;
  }
  const { text } = await router.console(`/ip ssh set forwarding-enabled=${value}`, { ...deadline, maxBytes: 1000 });
  // The console prints nothing on success.
  if (text.trim() !== '') throw new AgentError('rejected', `${text.trim()} (/ip/ssh/set)`);
}
