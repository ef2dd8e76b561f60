import type { ShareLimit, SharedUse } from '../../../runtime/fair-shares.ts';
import type { Clock } from '../../platform/core/clock.ts';
import { AppError, notFound } from '../../platform/core/errors.ts';
import { newId } from '../../platform/core/ids.ts';
import { insertNotices, withdrawNotices } from '../../platform/notices/store.ts';
import type { Storage, Tx } from '../../platform/storage/db.ts';
import { cannotListen, isOfThisPort } from './entry/listen-errors.ts';
import type { ForwardLimits } from './limits.ts';
import { adoptForward } from './cluster/store.ts';
import { forwardNotice } from './notices.ts';
import { normaliseDestination, normaliseSource } from './policy.ts';
import { PORTS_PER_TEAM, PORT_QUARANTINE_MS, choosePort } from './entry/ports.ts';
import type { PortChoice } from './entry/ports.ts';
import {
  countOpenForwards,
  deleteForward,
  hasOtherTeams,
  insertForward,
  isRouterThere,
  isUnique,
  lockTeam,
  selectForwardByKey,
  selectPortUses,
  updatePort,
} from './store.ts';
import { timeToExpire } from './time-to-expire.ts';
import type { ForwardMaker, ForwardRecord, ForwardRequest, ForwardSettings } from './types.ts';

/** Usage of the port range at the time of the last creation. */
export interface PortsUse extends SharedUse {
  taken: number;
  readonly refusals: Record<ShareLimit, number>;
}

/** The usage with which a new service starts. */
export function unusedPorts({ ports }: Pick<ForwardSettings, 'ports'>, limits: Pick<ForwardLimits, 'openPerRouter'>): PortsUse {
  const total = ports.to - ports.from + 1;
  return {
    limits: { total, perParty: PORTS_PER_TEAM, perMember: limits.openPerRouter },
    taken: 0,
    refusals: { total: 0, party: 0, member: 0 },
  };
}

export interface CreationDeps {
  storage: Storage;
  clock: Clock;
  settings: ForwardSettings;
  limits: ForwardLimits;
  portsUse: PortsUse;
  /** The home of new forwards, of several control planes. */
  nodeId?: string | undefined;
}

/** Two nodes may choose the same port at the same time. The unique index refuses one of them, which tries again. */
const INSERT_ATTEMPTS = 5;

/**
 * Other programs may hold ports of the range. This many are tried, each with a commit of about a millisecond. A range of
 * this size is searched completely; in a larger one every attempt starts at a random port.
 */
const PORT_ATTEMPTS = 1000;

/** The same as for other keys (server/platform/idempotency). */
const KEY_KEPT_MS = 24 * 3_600_000;

export interface NewForward {
  teamId: string;
  routerId: string;
  maker: ForwardMaker;
  channelTokenHash: string;
  request: ForwardRequest;
}

/**
 * Checks a request and stores a forward with its own port. A key that the caller chose finds the earlier forward.
 * @throws AppError `not_found` for a removed router, `invalid` naming the field, `conflict` when the team or the router has
 *   too many open forwards, `rate_limited` when the team's share of ports is in quarantine, `unavailable` without a free port
 */
export async function storeNewForward(deps: CreationDeps, forward: NewForward): Promise<{ record: ForwardRecord; isNew: boolean }> {
  const { request } = forward;
  const source = normaliseSource(request.allowFrom, { allowPrivate: deps.settings.allowPrivateSources });
  const destination = normaliseDestination(request.dstAddress);
  const now = deps.clock.now();
  return retryOnCollision(deps, async (tx) => {
    await lockTeam(tx, forward.teamId);
    const earlier = await findEarlier(tx, forward, now - KEY_KEPT_MS);
    if (earlier) return { record: earlier, isNew: false };
    // A removal holds the team, too.
    if (!(await isRouterThere(tx, forward))) throw notFound('router');
    await checkRoom(deps, tx, forward);
    const record = await insertForward(tx, {
      id: newId(now),
      team_id: forward.teamId,
      router_id: forward.routerId,
      port: await freePort(deps, tx, forward.teamId, new Set()),
      allow_only_cidr: source,
      dst_address: destination,
      dst_port: request.dstPort,
      entry_point: deps.settings.host,
      node_id: deps.nodeId ?? null,
      channel_token_hash: forward.channelTokenHash,
      way: null,
      way_reason: null,
      target_reachable: null,
      created_by: forward.maker.id,
      created_via: forward.maker.clientId ?? null,
      idempotency_key: forward.maker.idempotencyKey ?? null,
      created_at: now,
      authorized_at: null,
      expires_at: now + request.expireAfterMinutes * 60_000,
      renewed_at: null,
      closed_at: null,
      revoked_at: null,
      refused_attempts: 0,
      idle_seconds: request.idleSeconds === undefined ? deps.settings.idleSeconds : request.idleSeconds,
      max_connections: request.maxConnections ?? null,
    });
    await insertNotices(tx, [forwardNotice(record, 'created', now)], now);
    return { record, isNew: true };
  });
}

async function findEarlier(tx: Tx, { teamId, routerId, maker }: NewForward, since: number): Promise<ForwardRecord | undefined> {
  const { idempotencyKey } = maker;
  return idempotencyKey === undefined ? undefined : selectForwardByKey(tx, { teamId, routerId, idempotencyKey, since });
}

/** @throws AppError `conflict` when the team or the router has as many open forwards as it may */
async function checkRoom({ limits, portsUse }: CreationDeps, tx: Tx, { teamId, routerId }: NewForward): Promise<void> {
  const open = await countOpenForwards(tx, teamId, routerId);
  if (open.ofTeam >= limits.openPerTeam) {
    portsUse.refusals.party += 1;
    throw new AppError('conflict', `the team has ${limits.openPerTeam} open forwards already; revoke one first`);
  }
  if (open.ofRouter >= limits.openPerRouter) {
    portsUse.refusals.member += 1;
    throw new AppError('conflict', `the router has ${limits.openPerRouter} open forwards already; revoke one first`);
  }
}

/**
 * Listens on the record's port, or moves the forward to another port when another program holds it. If no port can be
 * opened, the record is deleted: no caller has seen it, and its port needs no quarantine. @returns the port
 * @throws AppError `unavailable` when no port is free or none can be opened; the message says why
 */
export async function listenOnFreePort(
  deps: CreationDeps,
  record: ForwardRecord,
  listen: (port: number) => Promise<void>,
): Promise<number> {
  try {
    return await listenSomewhere(deps, record, listen);
  } catch (error) {
    // If the record cannot be deleted, the caller closes it when it handles the error.
    const { team_id: teamId, id } = record;
    await deps.storage.writes
      .write(async (tx) => {
        await withdrawNotices(tx, { teamId, recordId: id });
        await deleteForward(tx, { teamId, id });
      })
      .catch(() => undefined);
    throw error;
  }
}

/**
 * Stores this control plane as the home of a forward that has none, with the same port unless it has given that to another forward.
 * @returns undefined when another one was faster
 */
export async function adoptWithPort(deps: CreationDeps & { nodeId: string }, record: ForwardRecord): Promise<ForwardRecord | undefined> {
  const key = { teamId: record.team_id, id: record.id };
  const to = { nodeId: deps.nodeId, entryPoint: deps.settings.host };
  try {
    return await deps.storage.writes.write((tx) => adoptForward(tx, key, { ...to, port: record.port }));
  } catch (error) {
    if (!isUnique(error)) throw error;
  }
  return retryOnCollision(deps, async (tx) =>
    adoptForward(tx, key, { ...to, port: await freePort(deps, tx, record.team_id, new Set([record.port])) }),
  );
}

/** Listens on the record's port, or moves the forward to another one. @returns the port @throws AppError `unavailable` */
export async function listenSomewhere(deps: CreationDeps, record: ForwardRecord, listen: (port: number) => Promise<void>): Promise<number> {
  const unusable = new Set<number>();
  let { port } = record;
  for (;;) {
    try {
      await listen(port);
      return port;
    } catch (error) {
      unusable.add(port);
      if (!isOfThisPort(error) || unusable.size >= PORT_ATTEMPTS) throw cannotListen(`port ${port} cannot be opened`, error);
    }
    port = await movePort(deps, record, unusable);
  }
}

/** @throws AppError `unavailable` */
async function movePort(deps: CreationDeps, record: ForwardRecord, unusable: ReadonlySet<number>): Promise<number> {
  return retryOnCollision(deps, async (tx) => {
    const port = await freePort(deps, tx, record.team_id, unusable);
    await updatePort(tx, { teamId: record.team_id, id: record.id, nodeId: deps.nodeId }, port);
    return port;
  });
}

async function freePort(
  { clock, settings, portsUse, nodeId }: CreationDeps,
  tx: Tx,
  teamId: string,
  unusable: ReadonlySet<number>,
): Promise<number> {
  const uses = await selectPortUses(tx, clock.now() - PORT_QUARANTINE_MS);
  const isOnlyTeam = !(await hasOtherTeams(tx, teamId));
  const request = { range: settings.ports, unusable, teamId, isOnlyTeam };
  let choice = choosePort({ ...request, uses });
  // A port that no other control plane has given out can be kept when the forward moves there.
  if (choice.state === 'exhausted' && nodeId !== undefined) {
    choice = choosePort({ ...request, uses: uses.filter((use) => use.nodeId === nodeId) });
  }
  portsUse.taken = uses.length;
  if (choice.state === 'free') return choice.port;
  portsUse.refusals[choice.state === 'share_used_up' ? 'party' : 'total'] += 1;
  throw noPort(choice, unusable.size, clock.now());
}

function noPort(choice: Exclude<PortChoice, { state: 'free' }>, unusable: number, now: number): AppError {
  const others = unusable === 0 ? '' : `; other programs hold ${unusable} of them`;
  // Never longer than the quarantine, even when the clock was set back.
  const retryAfterMs = choice.until === undefined ? undefined : Math.min(PORT_QUARANTINE_MS, Math.max(1000, choice.until - now));
  const when = retryAfterMs === undefined ? '' : timeToExpire(retryAfterMs, 0);
  if (choice.state === 'share_used_up') {
    const share = `the team holds its share of the ports for forwards (${choice.held}, those used in the last ten minutes included)`;
    if (retryAfterMs === undefined) return new AppError('conflict', `${share}; revoke one first`);
    return new AppError('rate_limited', `${share}; the next one is free ${when}`, { retryAfterMs });
  }
  if (retryAfterMs === undefined) return new AppError('unavailable', `every port for forwards is in use${others}`);
  return new AppError('unavailable', `every port for forwards is in use or in quarantine; the next one is free ${when}${others}`, {
    retryAfterMs,
  });
}

async function retryOnCollision<T>(deps: CreationDeps, work: (tx: Tx) => Promise<T>): Promise<T> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await deps.storage.writes.write(work);
    } catch (error) {
      if (attempt >= INSERT_ATTEMPTS || !isUnique(error)) throw error;
    }
  }
}
