import { LRUCache } from 'lru-cache';
import { MAX_ROUTERS_PER_AGENT } from '../../../../protocol/index.ts';
import type { RouterFactsMessage } from '../../../../protocol/index.ts';
import type { Clock } from '../../../platform/core/clock.ts';
import { notFound } from '../../../platform/core/errors.ts';
import { Listeners } from '../../../platform/core/listeners.ts';
import type { Log } from '../../../platform/core/log.ts';
import type { Page } from '../../../platform/core/page.ts';
import { TokenBucket } from '../../../platform/core/token-bucket.ts';
import type { Storage, Tx } from '../../../platform/storage/db.ts';
import { releaseName, upsertRouter } from '../store.ts';
import type { RouterRecord } from '../types.ts';
import { reasonToMove } from './rules.ts';
import {
  countMoves,
  deleteMove,
  lockTeam,
  selectAgentName,
  selectClaimed,
  selectClaimsOfAgent,
  selectMoveOf,
  selectMoves,
  selectOpenClaims,
  selectOpenMoves,
  selectParties,
  selectWaiting,
  setMoveState,
  storeClaim,
  withdrawClaims,
} from './store.ts';
import type { OpenClaim } from './store.ts';
import type { ClaimOfAgent, ListedMove, MoveChange, MoveRecord, MoveRules, Owner } from './types.ts';

/** Pending claims of one team: more than any re-installation of agents causes at once, and still a readable list. */
const MOST_PER_TEAM = 2000;
/**
 * New claims of one agent: a burst of twice its routers, then 8,640 a day. Each writes to the audit log and notifies the team,
 * and an agent could claim and withdraw without end.
 */
const CLAIM_RATE = { burst: 2 * MAX_ROUTERS_PER_AGENT, perSecond: 0.1 };
/** Agents whose claims are counted; the least recently used is dropped first. */
const REMEMBERED_CLAIMERS = 20_000;
/** Claims checked by one statement of a sweep: some milliseconds on SQLite. */
const AT_ONCE = 500;

export interface RouterMovesDeps {
  storage: Storage;
  clock: Clock;
  log: Log;
  rules: MoveRules;
  /** The state of the agent that has a router. */
  ownerOf: (router: Pick<RouterRecord, 'agent_id' | 'agent_router'>) => Omit<Owner, 'revoked'>;
  isConnected: (agentId: string) => boolean;
  /** The agent has an entry with this name in its configuration. */
  hasEntry: (agentId: string, name: string) => boolean;
}

export interface Sighting {
  newId: string;
  teamId: string;
  agentId: string;
  agentEntry: string;
  address: string;
  facts: RouterFactsMessage;
  now: number;
}

/** The result of an inventory, and the changes to publish once it is stored. */
export interface Sighted {
  /** Undefined: the router belongs to another agent, or to another entry of this one. */
  router: RouterRecord | undefined;
  /** The router that another entry of this agent has, when this one reports the same hardware id. */
  duplicateOf?: RouterRecord;
  changes: MoveChange[];
}

/** Assigns routers to agents: another agent of the team gets a router only by the rules or by an administrator's approval. */
export class RouterMoves {
  /** Changes of claims, published after they are stored. */
  readonly changes = new Listeners<MoveChange>();
  readonly #deps: RouterMovesDeps;
  /** Rates of new claims by agent; a reconnect does not reset them. */
  readonly #claims = new LRUCache<string, TokenBucket>({ max: REMEMBERED_CLAIMERS });

  constructor(deps: RouterMovesDeps) {
    this.#deps = deps;
  }

  /** Records that an agent reports a router, inside the transaction that stores it. */
  async recordSighting(tx: Tx, sighting: Sighting): Promise<Sighted> {
    const { teamId, agentId, agentEntry, facts } = sighting;
    let claimed = await selectClaimed(tx, teamId, facts.hardware_id);
    if (!claimed) {
      // When two agents report a new router at the same time, one of them is first.
      await lockTeam(tx, teamId);
      claimed = await selectClaimed(tx, teamId, facts.hardware_id);
    }
    const withdrawn = await withdrawClaims(tx, { teamId, agentId, agentEntry, except: claimed?.router.id ?? '' });
    const changes: MoveChange[] = [];
    for (const move of withdrawn) changes.push(...(await this.#changeOf(tx, 'withdrawn', move, 'the agent has another device there')));
    if (claimed && this.#isOfOtherEntry(claimed.router, sighting)) {
      await releaseName(tx, sighting);
      return { router: undefined, duplicateOf: claimed.router, changes };
    }
    if (!claimed || claimed.router.agent_id === agentId) return { router: await upsertRouter(tx, sighting), changes };
    const { router, ownerRevoked } = claimed;
    const earlier = await selectMoveOf(tx, { teamId, routerId: router.id, agentId });
    if (!earlier && !this.#mayClaim(agentId)) {
      this.#deps.log.warn({ team_id: teamId, agent_id: agentId }, 'a claim on a router is ignored: the agent has made too many');
      return { router: undefined, changes };
    }
    const reason =
      earlier?.state === 'refused' ? undefined : reasonToMove({ ...this.#deps.ownerOf(router), revoked: ownerRevoked }, this.#deps.rules);
    if (reason !== undefined) return this.#take(tx, sighting, router, reason, changes);
    await releaseName(tx, sighting);
    return { router: undefined, changes: [...changes, ...(await this.#request(tx, sighting, router, earlier))] };
  }

  /** The device under this name cannot be identified: no router has the name now. */
  async withdraw(tx: Tx, sighting: Sighting): Promise<MoveChange[]> {
    const changes: MoveChange[] = [];
    for (const move of await withdrawClaims(tx, { ...sighting, except: '' })) {
      changes.push(...(await this.#changeOf(tx, 'withdrawn', move, 'the agent has another device there')));
    }
    await releaseName(tx, { ...sighting, facts: { ...sighting.facts, hardware_id: '' } });
    return changes;
  }

  /** Two devices with one serial number, or one device in two entries: the control plane cannot tell which. */
  #isOfOtherEntry(router: RouterRecord, { agentId, agentEntry, facts }: Sighting): boolean {
    const { agent_id: owner, agent_router: name, hardware_id: hardwareId } = router;
    if (owner !== agentId || hardwareId !== facts.hardware_id || name === '' || name === agentEntry) return false;
    return this.#deps.hasEntry(agentId, name);
  }

  /** An administrator's decision. @throws AppError `not_found`, also for another team's move */
  async decide(teamId: string, id: string, state: 'approved' | 'refused'): Promise<void> {
    const { storage, clock } = this.#deps;
    const { move, changes } = await storage.writes.write(async (tx) => {
      const decided = await setMoveState(tx, { teamId, id, state, now: clock.now() });
      if (!decided) throw notFound('router move');
      return {
        move: decided,
        changes: state === 'refused' ? await this.#changeOf(tx, 'refused', decided, 'an administrator refused it') : [],
      };
    });
    this.publish(changes);
    if (state === 'approved') await this.#carryOut(move);
  }

  /** Newest first, including refused ones. */
  async list(teamId: string, page: Page): Promise<ListedMove[]> {
    return selectMoves(this.#deps.storage.db, teamId, page);
  }

  /** This agent's claims that wait or were refused, oldest first. */
  async claimsOf(teamId: string, agentId: string): Promise<ClaimOfAgent[]> {
    return selectClaimsOfAgent(this.#deps.storage.db, { teamId, agentId, limit: MAX_ROUTERS_PER_AGENT });
  }

  /** Carries out the claims that the rules allow by now. Never rejects. */
  async sweep(): Promise<void> {
    const { storage, log } = this.#deps;
    try {
      let claims = await selectOpenClaims(storage.db, AT_ONCE);
      while (claims.length > 0) {
        await this.#settle(claims);
        claims = claims.length < AT_ONCE ? [] : await selectOpenClaims(storage.db, AT_ONCE, claims.at(-1));
      }
    } catch (error) {
      log.warn({ err: error }, 'the check of claims on routers failed; it is retried');
    }
  }

  /** Nearly all claims only wait: they are decided together, and those that are due are looked at one by one. */
  async #settle(claims: readonly OpenClaim[]): Promise<void> {
    const due = claims.filter((claim) => this.#verdict(claim, claim) !== undefined).map(({ id }) => id);
    if (due.length === 0) return;
    for (const move of await selectOpenMoves(this.#deps.storage.db, due)) await this.#carryOut(move);
  }

  publish(changes: readonly MoveChange[]): void {
    for (const change of changes) this.changes.publish(change);
  }

  async #carryOut(move: MoveRecord): Promise<void> {
    const { storage } = this.#deps;
    const parties = await selectParties(storage.db, move);
    if (!parties) return;
    const { router } = parties;
    const verdict = this.#verdict(move, parties);
    if (!verdict) return;
    if (verdict.kind === 'withdraw') {
      const changes = await storage.writes.write(async (tx) => {
        await deleteMove(tx, move);
        return this.#changeOf(tx, 'withdrawn', move, verdict.reason);
      });
      this.publish(changes);
      return;
    }
    const sighting = {
      newId: move.id,
      teamId: move.team_id,
      agentId: move.agent_id,
      agentEntry: move.agent_router,
      address: move.address,
      facts: JSON.parse(move.facts) as RouterFactsMessage,
      now: this.#deps.clock.now(),
    };
    this.publish((await storage.writes.write((tx) => this.#take(tx, sighting, router, verdict.reason, []))).changes);
  }

  /** What happens to an open claim, and why; undefined while it waits. */
  #verdict(
    { agent_id: claimer, state }: Pick<MoveRecord, 'agent_id' | 'state'>,
    { router, ownerRevoked, claimerRevoked }: Pick<OpenClaim, 'router' | 'ownerRevoked' | 'claimerRevoked'>,
  ): { kind: 'withdraw' | 'take'; reason: string } | undefined {
    if (claimerRevoked || router.agent_id === claimer)
      return { kind: 'withdraw', reason: 'the agent that claimed it is revoked, or has it already' };
    if (state === 'approved') return { kind: 'take', reason: 'an administrator approved it' };
    // Without an approval, a router moves only to a connected agent.
    if (!this.#deps.isConnected(claimer)) return undefined;
    const reason = reasonToMove({ ...this.#deps.ownerOf(router), revoked: ownerRevoked }, this.#deps.rules);
    return reason === undefined ? undefined : { kind: 'take', reason };
  }

  async #take(tx: Tx, sighting: Sighting, before: RouterRecord, reason: string, changes: MoveChange[]): Promise<Sighted> {
    const { teamId, agentId, agentEntry } = sighting;
    const router = await upsertRouter(tx, { ...sighting, routerId: before.id });
    const claim = await selectMoveOf(tx, { teamId, routerId: before.id, agentId });
    if (claim) await deleteMove(tx, claim);
    const waiting = await selectWaiting(tx, teamId, before.id);
    const holderName = await selectAgentName(tx, teamId, agentId);
    const moved: MoveChange = { kind: 'moved', teamId, router, agentId, agentEntry, ownerId: before.agent_id, holderName, reason, waiting };
    return { router, changes: [...changes, moved] };
  }

  #mayClaim(agentId: string): boolean {
    const now = this.#deps.clock.monotonic();
    const claims = this.#claims.get(agentId) ?? new TokenBucket(CLAIM_RATE, now);
    this.#claims.set(agentId, claims);
    if (claims.waitMs(now) > 0) return false;
    claims.take(1, now);
    return true;
  }

  async #request(tx: Tx, sighting: Sighting, router: RouterRecord, earlier: MoveRecord | undefined): Promise<MoveChange[]> {
    const { teamId, agentId } = sighting;
    if (!earlier) {
      const { ofTeam, ofAgent } = await countMoves(tx, teamId, agentId);
      if (ofTeam >= MOST_PER_TEAM || ofAgent >= MAX_ROUTERS_PER_AGENT) {
        this.#deps.log.warn({ team_id: teamId, agent_id: agentId, count: ofTeam }, 'a claim on a router is ignored: too many are pending');
        return [];
      }
    }
    const move = await storeClaim(tx, { ...sighting, routerId: router.id });
    const reason =
      earlier?.state === 'refused'
        ? 'an administrator refused it'
        : 'it belongs to another agent of the team, and the move must be approved';
    return this.#changeOf(tx, earlier ? 'reported_again' : 'requested', move, reason);
  }

  async #changeOf(tx: Tx, kind: MoveChange['kind'], move: MoveRecord, reason: string): Promise<MoveChange[]> {
    const parties = await selectParties(tx, move);
    if (!parties) return [];
    const waiting = await selectWaiting(tx, move.team_id, move.router_id);
    const { router } = parties;
    const holderName = await selectAgentName(tx, move.team_id, router.agent_id);
    const { team_id: teamId, agent_id: agentId, agent_router: agentEntry } = move;
    return [{ kind, teamId, router, agentId, agentEntry, ownerId: router.agent_id, holderName, reason, waiting }];
  }
}
