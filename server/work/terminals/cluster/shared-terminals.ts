import type { z } from 'zod';
import type { Clock } from '../../../platform/core/clock.ts';
import { NobodyListensError } from '../../../platform/bus/errors.ts';
import { AppError } from '../../../platform/core/errors.ts';
import type { Log } from '../../../platform/core/log.ts';
import { within } from '../../../platform/core/within.ts';
import { Settlement } from '../../../platform/nodes/settlement.ts';
import type { Storage } from '../../../platform/storage/db.ts';
import type { TerminalLimits } from '../limits.ts';
import { keyOf } from '../live/facts.ts';
import type { LiveTerminal } from '../live/live-terminal.ts';
import type { LiveTerminals } from '../live/live-terminals.ts';
import { selectTerminal } from '../store.ts';
import type { TerminalKey } from '../store.ts';
import { TERMINAL_ENDS } from '../types.ts';
import type { Ending, TerminalRecord, Ticket } from '../types.ts';
import { AGENT_READY, homeOf, question, readyHint, releaseAnswer, statesAnswer, ticketAnswer } from './messages.ts';
import type { Question } from './messages.ts';
import { claimOrphans, hasOpenAt, moveTerminal, selectOpenAt, selectOpenElsewhere, selectOpenOne } from './store.ts';
import type { TerminalCluster } from './types.ts';

/** A home that does not answer does not hold up an end or a list for long. */
const TOLD_MS = 1000;
/** A home stores what it has recorded before it lets a terminal go. */
const RELEASE_MS = 10_000;
const TICKET_MS = 5000;
/** A home may be a former one, and its successor another. */
const MOST_ATTEMPTS = 3;

interface State {
  attached: boolean;
  away: boolean;
}

export interface SharedTerminalsDeps {
  cluster: TerminalCluster;
  storage: Storage;
  clock: Clock;
  log: Log;
  limits: TerminalLimits;
  live: LiveTerminals;
}

/**
 * What makes a terminal one of several control planes. It lives at one, its home, where the agent dials its channel to: where it was opened, and
 * then where its last client attached. The database says which one that is. The terminals of one that is gone are taken over at once.
 */
export class SharedTerminals {
  readonly #deps: SharedTerminalsDeps;
  readonly #orphans: Settlement;
  /** Terminals that are being given to another control plane. */
  readonly #leaving = new Set<string>();
  #stopAsking: (() => Promise<void>) | undefined;

  constructor(deps: SharedTerminalsDeps) {
    this.#deps = deps;
    const { clock, log, cluster } = deps;
    this.#orphans = new Settlement({ cluster, clock, log, name: 'terminals', run: () => this.#adopt() });
  }

  /** Carries on with the terminals of control planes that are gone. @throws a storage error */
  async start(): Promise<void> {
    const { bus, looks, nodeId } = this.#deps.cluster;
    bus.answer(homeOf(nodeId), (value) => this.#answer(question.parse(value)));
    bus.listen(AGENT_READY, (value) => this.#deps.live.onAgentReady(readyHint.parse(value).agent_id));
    await this.#adopt();
    this.#orphans.start();
    this.#stopAsking = looks.ask({
      asks: () => hasOpenAt(nodeId),
      onAnswer: async (hasTerminals) => {
        if (hasTerminals || this.#deps.live.all().length > 0) await this.#look();
      },
      failure: 'the terminals of this control plane could not be read',
    });
  }

  /** Resolves when nothing runs any more. Never rejects. */
  async stop(): Promise<void> {
    await this.#orphans.stop();
    await this.#stopAsking?.();
  }

  agentReady(agentId: string): void {
    this.#deps.cluster.bus.publish(AGENT_READY, { agent_id: agentId });
  }

  /**
   * A ticket from the home of an open terminal.
   * @returns undefined when it has ended
   * @throws AppError `unavailable`, … when its home cannot be reached
   */
  async newTicket(stored: TerminalRecord): Promise<(State & Ticket) | undefined> {
    return this.#atHome(
      keyOf(stored),
      stored,
      (live) => ticketOf(live),
      async (home) => ticketAnswer.parse(await this.#ask(home, { ask: 'ticket', id: stored.id }, TICKET_MS)) ?? undefined,
    );
  }

  /**
   * Takes over the terminal of a ticket, which is used up, if another control plane has it. The agent keeps the shell meanwhile.
   * @returns undefined when there is no such terminal
   * @throws AppError as a redemption at its home does, or `conflict` when this control plane has as many as it may
   */
  async takeOver(routerId: string, id: string, ticket: string): Promise<LiveTerminal | undefined> {
    const { storage, cluster, live } = this.#deps;
    const stored = await selectOpenOne(storage.db, id, { routerId });
    if (!stored) return undefined;
    const key = keyOf(stored);
    return this.#atHome(
      key,
      stored,
      // Its ticket is known here, or to nobody.
      () => live.redeem(routerId, id, ticket),
      async (home) => {
        if (!live.hasRoom(stored)) throw new AppError('conflict', 'this control plane has as many terminals open as it may');
        const asked: Question = { ask: 'release', id, router_id: routerId, ticket, node_id: cluster.nodeId };
        const released = releaseAnswer.parse(await this.#ask(home, asked, RELEASE_MS));
        return released ? this.#begin(key, released) : undefined;
      },
    );
  }

  /** Stores the end of an open terminal of another control plane, and has it ended there. @throws a storage error */
  async end(record: TerminalRecord, ending: Ending): Promise<void> {
    await this.#deps.live.storeEnd(keyOf(record), ending);
    await this.ended(record, ending.by);
  }

  /** Ends a terminal of another control plane whose end is stored. Never rejects. @param by who ended it, if that is known */
  async ended({ id, team_id: teamId, node_id: home, agent_id: agentId }: TerminalRecord, by?: Ending['by']): Promise<void> {
    const { cluster, live, log } = this.#deps;
    if (home === cluster.nodeId) return;
    try {
      if (home !== null) {
        await this.#ask(home, { ask: 'changed', id, ...(by && { by: { kind: by.kind, id: by.id, source: by.source } }) }, TOLD_MS);
        return;
      }
    } catch (error) {
      log.warn({ err: error, team_id: teamId }, 'a control plane did not answer that it knows of the end of a terminal');
    }
    await live.closeAtAgent({ id, agentId });
  }

  /** Ends terminals of others at an agent, or those whose openers have lost the right to them. @throws a storage error */
  async endWhere(of: { teamId: string; agentId?: string }, why: (record: TerminalRecord) => Promise<Ending | undefined>): Promise<void> {
    const { storage, cluster } = this.#deps;
    const records = await selectOpenElsewhere(storage.db, cluster.nodeId, of);
    await Promise.all(
      records.map(async (record) => {
        const ending = await why(record);
        if (ending) await this.end(record, ending);
      }),
    );
  }

  /** Tells the home that a shell has ended. Never rejects: without this, it finds that by asking for another channel. */
  async shellEnded(agentId: string, id: string, { reason, message }: Ending): Promise<void> {
    const { storage, cluster, log } = this.#deps;
    try {
      const home = (await selectOpenOne(storage.db, id, { agentId }))?.node_id;
      if (home === null || home === undefined || home === cluster.nodeId) return;
      await this.#ask(home, { ask: 'shell_ended', id, agent_id: agentId, reason, message }, TOLD_MS);
    } catch (error) {
      log.info({ err: error, agent_id: agentId }, 'the end of a shell could not be told to the control plane that has its terminal');
    }
  }

  /** The states of open terminals of others; without those whose home does not answer. Never rejects. */
  async states(records: readonly TerminalRecord[]): Promise<Map<string, State>> {
    const { cluster, live } = this.#deps;
    const others = records.filter(({ id, ended_at: at, node_id: home }) => at === null && home !== null && !live.get(id));
    const states = new Map<string, State>();
    const homes = [...Map.groupBy(others, ({ node_id: home }) => home!)].filter(([home]) => home !== cluster.nodeId);
    await Promise.all(
      homes.map(async ([home, at]) => {
        try {
          const asked = { ask: 'states' as const, ids: at.map(({ id }) => id) };
          for (const { id, ...state } of statesAnswer.parse(await this.#ask(home, asked, TOLD_MS))) states.set(id, state);
        } catch {
          // Shown as away, which they are from here.
        }
      }),
    );
    return states;
  }

  /** Whether the record still says that this is its home; otherwise it is ended here, or let go. @throws a storage error */
  async isHomeOf(live: LiveTerminal, by?: Ending['by']): Promise<boolean> {
    const { storage, cluster, live: lives } = this.#deps;
    const record = await selectTerminal(storage.db, { teamId: live.teamId, id: live.id });
    if (live.ended) return false;
    if (record?.ended_at === null && record.node_id === cluster.nodeId) return true;
    if (record && record.ended_at !== null) await lives.end(live, endingOf(record, by));
    else lives.letGo(live);
    return false;
  }

  /** By the database: what is here and what should be. */
  async #look(): Promise<void> {
    const { storage, cluster, live: lives } = this.#deps;
    const records = await selectOpenAt(storage.db, cluster.nodeId);
    const open = new Set(records.map(({ id }) => id));
    for (const live of lives.all()) if (!live.ended && !open.has(live.id)) await this.isHomeOf(live);
    // Given to this one, and the answer was lost. Those without a shell are being opened.
    const missing = records.filter((record) => record.opened_at !== null && this.#isMissing(record.id));
    for (const record of missing) await this.#takeUp(keyOf(record));
    lives.resumeAll();
  }

  #isMissing(id: string): boolean {
    return !this.#deps.live.get(id) && !this.#leaving.has(id);
  }

  async #adopt(): Promise<void> {
    const { storage, cluster, live, log } = this.#deps;
    const records = await storage.writes.write((tx) => claimOrphans(tx, cluster.nodeId));
    if (records.length === 0) return;
    log.info({ count: records.length }, 'terminals go on here whose control plane is gone');
    await live.takeUp(records);
  }

  /** @returns undefined when the database names another home, or it has ended @throws a storage error */
  async #takeUp(key: TerminalKey): Promise<LiveTerminal | undefined> {
    const { storage, cluster, live: lives } = this.#deps;
    // Read after it was seen to be missing: an end is stored before a terminal leaves.
    const record = await selectTerminal(storage.db, key);
    const isOwn = record?.ended_at === null && record.node_id === cluster.nodeId;
    if (isOwn && this.#isMissing(key.id)) await lives.takeUp([record]);
    return lives.get(key.id);
  }

  /** Goes on with what another one has let go, once the output that was shown there has arrived again. */
  async #begin(key: TerminalKey, { total, ...size }: { total: number; cols: number; rows: number }): Promise<LiveTerminal | undefined> {
    const live = await this.#takeUp(key);
    if (!live) return undefined;
    live.size = size;
    // Shown as a replay: a client must not answer again what the router asked its terminal.
    await within(live.reached(total), this.#deps.limits.channelWaitMs);
    return live;
  }

  /**
   * Does something where a terminal lives; it is taken over first if its home is gone.
   * @param there undefined when whoever was asked is not the home
   */
  async #atHome<T>(
    key: TerminalKey,
    stored: TerminalRecord,
    here: (live: LiveTerminal) => T | Promise<T>,
    there: (home: string) => Promise<T | undefined>,
  ): Promise<T | undefined> {
    const { storage, cluster } = this.#deps;
    let record: TerminalRecord | undefined = stored;
    for (let attempt = 0; attempt < MOST_ATTEMPTS && record?.ended_at === null; attempt += 1) {
      const { node_id: home } = record;
      if (home === cluster.nodeId) {
        const live = await this.#takeUp(key);
        if (live) return here(live);
      } else {
        const answer = await this.#askOrClaim(key, home, there);
        if (answer !== undefined) return answer;
      }
      record = await selectTerminal(storage.db, key);
    }
    return undefined;
  }

  /** @returns undefined when the record must be read again */
  async #askOrClaim<T>(key: TerminalKey, home: string | null, there: (home: string) => Promise<T | undefined>): Promise<T | undefined> {
    if (home === null) {
      await this.#claim(key);
      return undefined;
    }
    try {
      return await there(home);
    } catch (error) {
      // It has ended. One that was killed is still counted on for some seconds.
      if (error instanceof NobodyListensError && (await this.#claim(key))) return undefined;
      throw error;
    }
  }

  /** @returns whether it lives here now, because its home is gone */
  async #claim(key: TerminalKey): Promise<boolean> {
    const { storage, cluster, live } = this.#deps;
    const claimed = await storage.writes.write((tx) => claimOrphans(tx, cluster.nodeId, key));
    await live.takeUp(claimed);
    return claimed.length > 0;
  }

  #ask(home: string, asked: Question, timeoutMs: number): Promise<unknown> {
    return this.#deps.cluster.bus.ask(homeOf(home), asked, { timeoutMs });
  }

  async #answer(asked: Question): Promise<unknown> {
    const { live: lives } = this.#deps;
    if (asked.ask === 'states') {
      const found = asked.ids.map((id) => lives.get(id)).filter((live) => live !== undefined);
      return found.map((live): z.infer<typeof statesAnswer>[number] => ({ id: live.id, attached: live.isAttached, away: live.isAway }));
    }
    const live = lives.get(asked.id);
    if (asked.ask === 'release') return live && !this.#leaving.has(live.id) ? this.#release(asked) : null;
    if (asked.ask === 'ticket') return live && !live.ended ? ticketOf(live) : null;
    if (asked.ask === 'shell_ended') lives.onShellEnded(asked.agent_id, asked.id, { reason: asked.reason, message: asked.message });
    else if (live) await this.isHomeOf(live, asked.by);
    return {};
  }

  /** @throws AppError as a redemption does; a storage error, and then it comes back here with the next look */
  async #release(asked: Extract<Question, { ask: 'release' }>): Promise<z.infer<typeof releaseAnswer>> {
    const { storage, cluster, live: lives } = this.#deps;
    const live = await lives.redeem(asked.router_id, asked.id, asked.ticket);
    const { size, wanted: total } = live;
    this.#leaving.add(live.id);
    try {
      await lives.leave(live);
      const key = { teamId: live.teamId, id: live.id };
      const isGiven = await storage.writes.write((tx) => moveTerminal(tx, key, { from: cluster.nodeId, to: asked.node_id }));
      return isGiven ? { total, ...size } : null;
    } finally {
      this.#leaving.delete(live.id);
    }
  }
}

function ticketOf(live: LiveTerminal): State & Ticket {
  return { ...live.newTicket(), attached: live.isAttached, away: live.isAway };
}

function endingOf({ end_reason: reason, end_message: message, ended_by: endedBy }: TerminalRecord, by: Ending['by']): Ending {
  return {
    reason: TERMINAL_ENDS.find((end) => end === reason) ?? 'closed',
    message: message ?? '',
    ...(by && by.id === endedBy ? { by } : {}),
  };
}
