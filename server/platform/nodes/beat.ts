import { freezeWatch } from '../../../runtime/freeze-watch.ts';
import { AppError } from '../core/errors.ts';
import { Listeners } from '../core/listeners.ts';
import type { Log } from '../core/log.ts';
import { Periodic } from '../core/periodic.ts';
import { systemClock } from '../core/clock.ts';
import type { Storage } from '../storage/db.ts';
import { BEAT_EVERY_MS, DEAD_AFTER_MS } from './claim.ts';
import { Members } from './members.ts';
import { Peers } from './peers.ts';
import { deleteNode, raiseBeat, raiseBeatAmong, takeWorkAgain } from './store.ts';
import type { NodeLoad, NodeRecord } from './store.ts';

/** Of its connection. A beat that gets no answer is given up early enough for another one within the 10 s. */
export const BEAT_LIMITS = { connections: 1, statementMs: 2000, answerMs: 500 };

export interface BeatDeps {
  /** Its own: the connections of the control plane may all be busy for longer than a beat may be late. */
  storage: Storage;
  log: Log;
  /** Of this control plane. */
  id: string;
  /** Those that serve the database together; null for one that serves it alone. */
  members: Members | null;
  /** Another control plane has taken the database over, because this one was silent for too long. It must end without another write. */
  onReplaced: (error: AppError) => void;
}

/** A beat that is so much later than the one before is late. */
const FRESH_FOR_MS = BEAT_EVERY_MS + BEAT_LIMITS.answerMs;
/** After this long without a beat in the database the others will soon take this control plane for dead: 3 s before they do. */
const COUNTED_FOR_MS = 7000;
/** No other one takes it for dead before {@link DEAD_AFTER_MS}. The rest is for a commit that is under way. */
const MAY_WRITE_FOR_MS = DEAD_AFTER_MS - 1000;

/** Says every 2 s that this control plane lives, until it has stopped. Closes its connection then. While the database is away nobody else can start either. */
export class Beat {
  /** The ids of other members that have ended or do not count any more. An id may come twice. */
  readonly gone = new Listeners<string>();
  /** Whether this one shall give its work to others: published when that changes. */
  readonly drains = new Listeners<boolean>();
  /** What the others are told. */
  measure: () => NodeLoad = () => ({ tunnels: 0, clients: 0, onBus: false });
  readonly #deps: BeatDeps;
  readonly #beats: Periodic;
  readonly #peers: Peers;
  /** Asked for by its own stop: it does not end any more. */
  #isStopping = false;
  /** When the last beat was stored, in monotonic time, which also passes while a process is frozen. The claim is the first one. */
  #storedAtMs = performance.now();
  #isReplaced = false;
  #isDraining = false;
  /** The members that drain, as the last beat has read them. */
  #draining: readonly string[] = [];
  /** How many agents each of the others has that take work, as the last beat has read them. */
  #tunnelsOfOthers: readonly number[] = [];
  /** The last beat failed, and the log says so. */
  #isFailing = false;
  #endFreezeWatch: (() => void) | undefined;

  constructor(deps: BeatDeps) {
    this.#deps = deps;
    this.#peers = new Peers(deps.id);
    this.#beats = new Periodic({
      // Real time also in tests with a clock of their own: another process waits for the beat.
      clock: systemClock,
      log: deps.log,
      everyMs: BEAT_EVERY_MS,
      failure: 'the beat of this control plane ended',
      run: () => this.#beat(),
    });
  }

  /** False when this control plane has been frozen or cut off from the database for so long that others may act in its place. */
  get isCounted(): boolean {
    return !this.#isReplaced && performance.now() - this.#storedAtMs < COUNTED_FOR_MS;
  }

  /** The database has answered the last beat, and the next one is not late: nobody needs to ask it whether it answers. */
  get hasFreshAnswer(): boolean {
    return !this.#isReplaced && !this.#isFailing && performance.now() - this.#storedAtMs < FRESH_FOR_MS;
  }

  /** False when others may have settled already what was its own. */
  get mayWrite(): boolean {
    return !this.#isReplaced && performance.now() - this.#storedAtMs < MAY_WRITE_FOR_MS;
  }

  /** Someone has asked for it in the database. */
  get isDraining(): boolean {
    return this.#isDraining;
  }

  /** How long ago the beat of a member was seen to change, or its own was stored, milliseconds; undefined before it was seen. */
  beatAgeMs(id: string): number | undefined {
    const now = performance.now();
    return id === this.#deps.id ? now - this.#storedAtMs : this.#peers.beatAgeMs(id, now);
  }

  /** How many agents each of the others had at their beat before the last one. Those that drain are not among them. */
  get tunnelsOfOthers(): readonly number[] {
    return this.#tunnelsOfOthers;
  }

  start(): void {
    if (this.#deps.members) {
      this.#endFreezeWatch = freezeWatch.watch();
      freezeWatch.stillCounts(this.#storedAtMs);
    }
    this.#beats.start();
  }

  /** For its stop: it drains from now on, also while the database is away. */
  drain(): void {
    this.#isStopping = true;
    const { members, id } = this.#deps;
    members?.set(members.ids, [...this.#draining, id]);
    this.#setDraining(true);
  }

  /** Lets the next control plane start at once. */
  async stop(): Promise<void> {
    this.#endFreezeWatch?.();
    await this.#beats.stop();
    const { storage, id } = this.#deps;
    try {
      if (!this.#isReplaced) await deleteNode(storage.db, { id });
    } finally {
      await storage.close();
    }
  }

  /** Never rejects: the next beat tries again. */
  async #beat(): Promise<void> {
    if (this.#isReplaced) return;
    const { log, onReplaced } = this.#deps;
    try {
      const isStored = await this.#store();
      this.#isFailing = false;
      if (isStored) return;
    } catch (error) {
      if (!this.#isFailing) log.warn({ err: error, component: 'storage' }, 'could not tell the database that this control plane lives');
      this.#isFailing = true;
      return;
    }
    this.#isReplaced = true;
    onReplaced(this.#deps.members ? declaredDead() : replaced());
  }

  /** One statement without a transaction: nothing of it is undone when its answer is lost. @returns false when this one does not count */
  async #store(): Promise<boolean> {
    const { storage, id, members } = this.#deps;
    const beganAtMs = performance.now();
    if (!members) {
      const isStored = await raiseBeat(storage.db, id);
      if (isStored) this.#storedAtMs = beganAtMs;
      return isStored;
    }
    const nodes = await raiseBeatAmong(storage.db, id, this.measure());
    if (!nodes) return false;
    this.#storedAtMs = beganAtMs;
    freezeWatch.stillCounts(beganAtMs);
    await this.#lookAtPeers(members, nodes);
    return true;
  }

  /** Whoever is taken for dead by mistake finds out with its next beat. */
  async #lookAtPeers(members: Members, nodes: readonly NodeRecord[]): Promise<void> {
    const { storage, log, id: ownId } = this.#deps;
    const { dead, left } = this.#peers.look(nodes, performance.now());
    const gone = [...left];
    for (const node of dead) {
      if (!(await deleteNode(storage.db, node))) continue;
      log.warn({ reason: node.name, component: 'storage' }, 'another control plane was killed or hangs, and does not count any more');
      gone.push(node.id);
    }
    this.#draining = nodes.filter(({ id, state }) => state === 'draining' || (this.#isStopping && id === ownId)).map(({ id }) => id);
    this.#tunnelsOfOthers = nodes
      .filter(({ id }) => id !== ownId && !gone.includes(id) && !this.#draining.includes(id))
      .map(({ tunnels }) => tunnels);
    members.set(
      nodes.map(({ id }) => id).filter((id) => !gone.includes(id)),
      this.#draining,
    );
    for (const id of gone) this.gone.publish(id);
    this.#setDraining(this.#draining.includes(ownId));
    if (nodes.every(({ id }) => gone.includes(id) || this.#draining.includes(id))) await this.#takeWorkAgain();
  }

  /** All drain, for example because the one that took work was killed: nobody would answer at the load balancer. The first to see it is enough. */
  async #takeWorkAgain(): Promise<void> {
    if (this.#isStopping) return;
    const { storage, log, id } = this.#deps;
    log.warn({ component: 'nodes' }, 'no other control plane takes work any more: this one ends its drain');
    await takeWorkAgain(storage.db, id);
  }

  #setDraining(isDraining: boolean): void {
    if (isDraining === this.#isDraining) return;
    this.#isDraining = isDraining;
    this.drains.publish(isDraining);
  }
}

function replaced(): AppError {
  return new AppError('conflict', 'another control plane has taken over the database, because this one was silent for over 10 s');
}

function declaredDead(): AppError {
  return new AppError('conflict', 'the other control planes do not count on this one any more, because it was silent for over 10 s');
}
