import type { z } from 'zod';
import type { Cluster } from '../../../feature.ts';
import { BusAwayError, NobodyListensError } from '../../../platform/bus/errors.ts';
import { publishList } from '../../../platform/bus/publish-list.ts';
import type { Bus } from '../../../platform/bus/types.ts';
import type { Log } from '../../../platform/core/log.ts';
import type { ForwardKey } from '../store.ts';
import type { Carried, ForwardMaker, ForwardRequest } from '../types.ts';
import {
  AGENT_DROPPED,
  AGENT_READY,
  carriedAnswer,
  CHANGED,
  changedHint,
  countsHint,
  countsOf,
  created,
  droppedHint,
  entered,
  homeOf,
  question,
  readyHint,
} from './messages.ts';
import type { Entered, Question } from './messages.ts';

/** A creation waits for the agent and its router (createWaitMs), and this long for the rest. */
const CREATE_MORE_MS = 5000;
/** A home closes a port and cuts connections at once. One that does not answer does not hold up a revocation for long. */
const CHANGED_MS = 1000;
const ENTER_MS = 5000;
const LOST_MS = 5000;
/** One that does not answer does not hold up a list for long. */
const CARRIED_MS = 1000;
/** Of one hint: at most 100 bytes each. */
const COUNTS_AT_ONCE = 500;

/** The agent closes its channels only then, so that connections elsewhere end with the reason; whoever is cut off does not hold it up. */
export const TOLD_MS = 300;

/** What a door has of a forward. */
export interface DoorCount {
  id: string;
  /** Connections, and clients that are being let in. */
  open: number;
  /** How many it may have without asking its home. */
  kept: number;
}

/** What this control plane does when others ask or tell it something. */
export interface HomeEvents {
  create(teamId: string, routerId: string, maker: ForwardMaker, request: ForwardRequest): Promise<{ id: string }>;
  /** A record has changed, perhaps. */
  onChanged(key: ForwardKey): Promise<void>;
  /** Another control plane has one more client for a forward of this home. */
  onEnter(id: string, nodeId: string, open: number): Entered;
  onLost(agentId: string, id: string, reason: string): void;
  /** What this control plane carries of a forward; undefined for nothing. */
  carriedOf(id: string): Carried | undefined;
  onCounts(nodeId: string, counts: readonly DoorCount[]): void;
  onAgentReady(agent: { agentId: string; teamId: string; epoch: number }): void;
  onAgentDropped(teamId: string, agentId: string, why: string): void;
}

export interface OtherHomesDeps {
  nodeId: string;
  bus: Bus;
  members: Pick<Cluster['members'], 'ids'>;
  log: Log;
  createWaitMs: number;
}

/** Asks and tells the other control planes about forwards, and hears them. Nothing that they say is believed without the database. */
export class OtherHomes {
  readonly #deps: OtherHomesDeps;
  #events: HomeEvents | undefined;

  constructor(deps: OtherHomesDeps) {
    this.#deps = deps;
  }

  /** Answers and hears from now on. */
  attend(events: HomeEvents): void {
    const { bus, nodeId } = this.#deps;
    this.#events = events;
    bus.answer(homeOf(nodeId), (value) => this.#answer(events, question.parse(value)));
    bus.listen(countsOf(nodeId), (value) => {
      const { node_id: from, open, kept } = countsHint.parse(value);
      const keptOf = new Map(kept);
      events.onCounts(
        from,
        open.map(([id, count]) => ({ id, open: count, kept: keptOf.get(id) ?? 0 })),
      );
    });
    bus.listen(CHANGED, (value) => {
      const { team_id: teamId, id } = changedHint.parse(value);
      void events.onChanged({ teamId, id });
    });
    bus.listen(AGENT_READY, (value) => {
      const { team_id: teamId, agent_id: agentId, epoch } = readyHint.parse(value);
      events.onAgentReady({ teamId, agentId, epoch });
    });
    bus.listen(AGENT_DROPPED, (value) => {
      const { team_id: teamId, agent_id: agentId, why } = droppedHint.parse(value);
      events.onAgentDropped(teamId, agentId, why);
    });
  }

  /**
   * Has another control plane create a forward.
   * @returns its id; undefined when that one is not there, and nothing was done
   * @throws its AppError, or NoAnswerError when it is unknown whether it was created
   */
  async create(home: string, teamId: string, routerId: string, maker: ForwardMaker, request: ForwardRequest): Promise<string | undefined> {
    try {
      const asked = { ask: 'create' as const, team_id: teamId, router_id: routerId, maker, request };
      return created.parse(await this.#ask(home, asked, this.#deps.createWaitMs + CREATE_MORE_MS)).id;
    } catch (error) {
      if (error instanceof NobodyListensError || error instanceof BusAwayError) return undefined;
      throw error;
    }
  }

  /**
   * Tells everybody that a record has changed, and waits a moment until these have acted. Never rejects: they find it by themselves.
   * @param carriers control planes that have the forward's port, or carry connections of it
   */
  async changed({ teamId, id }: ForwardKey, carriers: readonly (string | null)[]): Promise<void> {
    const { bus, nodeId } = this.#deps;
    bus.publish(CHANGED, { team_id: teamId, id });
    const asked = carriers.filter((carrier): carrier is string => carrier !== null && carrier !== nodeId);
    await Promise.all(asked.map((carrier) => this.#askToRead(carrier, { teamId, id })));
  }

  async #askToRead(carrier: string, { teamId, id }: ForwardKey): Promise<void> {
    try {
      await this.#ask(carrier, { ask: 'changed', team_id: teamId, id }, CHANGED_MS);
    } catch (error) {
      this.#deps.log.warn({ forward_id: id, err: error }, 'a control plane did not answer that it knows of the change of a forward');
    }
  }

  /** @throws AppError when the home cannot be reached */
  async enter(home: string, { teamId, id }: ForwardKey, open: number): Promise<Entered> {
    const { nodeId } = this.#deps;
    return entered.parse(await this.#ask(home, { ask: 'enter', team_id: teamId, id, node_id: nodeId, open }, ENTER_MS));
  }

  /** @throws AppError when the home cannot be reached */
  async lost(home: string, { teamId, id }: ForwardKey, agentId: string, reason: string): Promise<void> {
    await this.#ask(home, { ask: 'lost', team_id: teamId, id, agent_id: agentId, reason }, LOST_MS);
  }

  /** What the others carry of these forwards: a door may be at any of them. Without those that do not answer. Never rejects. */
  async carried(ids: readonly string[]): Promise<Map<string, Carried[]>> {
    const { members, nodeId } = this.#deps;
    const sums = new Map<string, Carried[]>();
    if (ids.length === 0) return sums;
    const asked = { ask: 'carried' as const, ids: [...ids] };
    const askOne = async (node: string): Promise<void> => {
      try {
        for (const { id, ...carried } of carriedAnswer.parse(await this.#ask(node, asked, CARRIED_MS)).carried)
          sums.set(id, [...(sums.get(id) ?? []), carried]);
      } catch {
        // Its figures come with what it writes to the record.
      }
    };
    await Promise.all(members.ids.filter((id) => id !== nodeId).map(askOne));
    return sums;
  }

  /** How many connections of forwards of that home this control plane carries. It may be the home itself, and have been a door before. */
  counts(home: string, counts: readonly DoorCount[]): void {
    const { bus, nodeId } = this.#deps;
    // The bus brings nobody what they said themselves.
    if (home === nodeId) {
      this.#events?.onCounts(nodeId, counts);
      return;
    }
    const hintOf = (some: readonly DoorCount[]): object => ({
      node_id: nodeId,
      open: some.map(({ id, open }) => [id, open]),
      kept: some.filter((count) => count.kept > count.open).map((count) => [count.id, count.kept]),
    });
    // There is a door for each open forward.
    publishList(bus, countsOf(home), counts, { most: COUNTS_AT_ONCE, hintOf });
  }

  agentReady({ teamId, agentId, epoch }: { teamId: string; agentId: string; epoch: number }): void {
    this.#deps.bus.publish(AGENT_READY, { team_id: teamId, agent_id: agentId, epoch });
  }

  agentDropped(teamId: string, agentId: string, why: string): void {
    this.#deps.bus.publish(AGENT_DROPPED, { team_id: teamId, agent_id: agentId, why });
  }

  #ask(home: string, asked: Question, timeoutMs: number): Promise<unknown> {
    return this.#deps.bus.ask(homeOf(home), asked, { timeoutMs });
  }

  async #answer(events: HomeEvents, asked: Question): Promise<object> {
    switch (asked.ask) {
      case 'create': {
        const { id } = await events.create(asked.team_id, asked.router_id, asked.maker, asked.request);
        return { id };
      }
      case 'changed':
        await events.onChanged({ teamId: asked.team_id, id: asked.id });
        return {};
      case 'enter':
        return events.onEnter(asked.id, asked.node_id, asked.open);
      case 'lost':
        events.onLost(asked.agent_id, asked.id, asked.reason);
        return {};
      case 'carried':
        return { carried: carriedBy(events, asked.ids) };
    }
  }
}

function carriedBy(events: HomeEvents, ids: readonly string[]): z.infer<typeof carriedAnswer>['carried'] {
  return ids.flatMap((id) => {
    const carried = events.carriedOf(id);
    return carried ? [{ id, ...carried }] : [];
  });
}
