import {
  countAgents,
  hasLiveAgent,
  insertAgent,
  replaceAgentCredential,
  revokeAgent,
  selectAgentCredentials,
} from '../../fleet/agents/service.ts';
import type { AgentCredential } from '../../fleet/agents/service.ts';
import type { AgentGateway } from '../../platform/core/agent-gateway.ts';
import type { Clock } from '../../platform/core/clock.ts';
import type { Counters } from '../../platform/core/counters.ts';
import { AppError, invalidField, notFound } from '../../platform/core/errors.ts';
import { Gathered, READS_AT_ONCE } from '../../platform/core/gathered.ts';
import { hashSecret, newId, newSecret, secretMatches } from '../../platform/core/ids.ts';
import { Listeners } from '../../platform/core/listeners.ts';
import type { Log } from '../../platform/core/log.ts';
import { FIRST_PAGE } from '../../platform/core/page.ts';
import type { Page } from '../../platform/core/page.ts';
import type { Principal } from '../../platform/core/principal.ts';
import { checkQuota, QUOTAS } from '../../platform/core/quotas.ts';
import { insertNotices } from '../../platform/notices/store.ts';
import type { NewNotice } from '../../platform/notices/types.ts';
import type { Storage, Tx } from '../../platform/storage/db.ts';
import {
  API_KEY_SECRET_LENGTH,
  ENROL_TOKEN_PREFIX,
  formatApiKey,
  isPrefixedToken,
  parseAgentBearer,
  parseApiKey,
  SERVICE_TOKEN_PREFIX,
} from './bearer.ts';
import { LastUsed } from './last-used.ts';
import {
  claimEnrolToken,
  countLiveApiKeys,
  countOpenEnrolTokens,
  insertApiKey,
  insertEnrolToken,
  insertServiceToken,
  lockTeam,
  insertRevocation,
  replaceApiKey,
  revokeApiKey,
  revokeEnrolToken,
  revokeReplacementTokens,
  revokeServiceToken,
  selectApiKey,
  selectApiKeys,
  selectApiKeysByIds,
  selectEnrolToken,
  selectEnrolTokenBySecret,
  selectEnrolTokens,
  selectLiveServiceToken,
  selectTeamOfApiKey,
  selectTeamOfEnrolToken,
} from './store.ts';
import type { StoredApiKey } from './store.ts';
import type {
  AgentEnrolment,
  AgentIdentity,
  ApiKey,
  EnrolToken,
  EnrolTokenStatus,
  Enrolment,
  NewApiKey,
  NewEnrolToken,
  Rotation,
  ServiceToken,
} from './types.ts';

/** Long enough to walk to the router, short enough that a forgotten token is harmless. */
const ENROL_TOKEN_LIFE_MS = 24 * 3600 * 1000;
const LONGEST_NAME = 100;
/** Agents whose credentials are read by one statement. */
const AGENTS_AT_ONCE = 200;
/** Keys that are read by one statement: those of the requests of one turn of the event loop. */
const KEYS_AT_ONCE = 200;
/** Compared with when there is no record, so that every refusal takes the same time. No secret has this hash. */
const NO_HASH = '0'.repeat(64);

export interface CredentialsDeps {
  storage: Storage;
  clock: Clock;
  log: Log;
  counters?: Counters | undefined;
  /** How far statements for agents are apart when many connect (AGENTS_APART_MS); 0 unless given. */
  agentsApartMs?: number;
}

/**
 * Credentials of programs: API keys, service tokens, enrolment tokens and agent credentials. They are never
 * interchangeable; each kind has its own check. A check returns undefined for every bad credential (malformed, unknown,
 * other team, wrong secret, revoked, expired), so that a refusal reveals nothing.
 */
export class CredentialsService {
  /** Agents that got a credential, after it is stored. */
  readonly enrolments = new Listeners<AgentEnrolment>();
  readonly #deps: CredentialsDeps;
  readonly #lastUsed: LastUsed;
  /** Agents dial together after a restart. */
  readonly #agentCredentials: Gathered<string, AgentCredential | undefined>;
  readonly #apiKeys: Gathered<{ teamId: string; tokenId: string }, StoredApiKey | undefined>;

  constructor(deps: CredentialsDeps) {
    this.#deps = deps;
    this.#agentCredentials = new Gathered({
      most: AGENTS_AT_ONCE,
      apartMs: deps.agentsApartMs ?? 0,
      run: async (ids) => {
        const found = await selectAgentCredentials(deps.storage.db, ids);
        return ids.map((id) => found.get(id));
      },
    });
    this.#apiKeys = new Gathered({
      most: KEYS_AT_ONCE,
      atOnce: READS_AT_ONCE,
      run: (wanted) => selectApiKeysByIds(deps.storage.db, wanted),
    });
    this.#lastUsed = new LastUsed({ writes: deps.storage.writes, clock: deps.clock, log: deps.log });
  }

  /** Writes what is still in memory. Call it before the storage closes. */
  async stop(): Promise<void> {
    await Promise.all([this.#agentCredentials.stop(), this.#apiKeys.stop()]);
    await this.#lastUsed.stop();
  }

  async authenticateApiKey(bearer: string): Promise<Principal | undefined> {
    const parts = parseApiKey(bearer);
    if (!parts) return undefined;
    const found = await this.#apiKeys.call(parts);
    const matches = secretMatches(parts.secret, found?.secretHash ?? NO_HASH);
    if (!matches || !found || !this.#isLive(found.key)) return undefined;
    this.#lastUsed.record(found.key.id);
    return { kind: 'api_key', id: found.key.id, teamId: found.key.teamId, role: found.key.role };
  }

  /** @param bearer `<agent_id>:<secret>` */
  async authenticateAgent(bearer: string): Promise<AgentIdentity | undefined> {
    const parts = parseAgentBearer(bearer);
    if (!parts) return undefined;
    const found = await this.#agentCredentials.call(parts.agentId);
    const matches = secretMatches(parts.secret, found?.secretHash ?? NO_HASH);
    return matches && found && !found.revoked ? { agentId: parts.agentId, teamId: found.teamId, credential: found.secretHash } : undefined;
  }

  async authenticateService(token: string): Promise<ServiceToken | undefined> {
    if (!isPrefixedToken(SERVICE_TOKEN_PREFIX, token)) return undefined;
    return selectLiveServiceToken(this.#deps.storage.db, hashSecret(token));
  }

  /**
   * @returns the record and the complete key, which cannot be read again
   * @throws AppError `invalid` for a bad name or an expiry in the past, `quota_exceeded` when the team has too many keys
   */
  async createApiKey(request: NewApiKey): Promise<{ key: ApiKey; apiKey: string }> {
    const { storage, clock } = this.#deps;
    const now = clock.now();
    if (request.expiresAt !== undefined && request.expiresAt <= now) throw invalidField('expires_at', 'must be in the future');
    const made = newApiKey({ ...request, name: checkName(request.name) }, now);
    await storage.writes.write(async (tx) => {
      await lockTeam(tx, request.teamId);
      await this.#checkKeys(tx, request.teamId, 'api_keys_per_team', now);
      await insertApiKey(tx, made.key, made.secretHash);
    });
    return { key: made.key, apiKey: made.apiKey };
  }

  /**
   * Creates a key with the name, role and expiry of another key, which keeps working for the overlap.
   * @returns the new record and the complete new key, which cannot be read again
   * @throws AppError `not_found`; `conflict` for a key that is revoked, expired or already rotated; `quota_exceeded` when the team
   *   would have too many valid keys
   */
  async rotateApiKey(teamId: string, keyId: string, { createdBy, overlapMs }: Rotation): Promise<{ key: ApiKey; apiKey: string }> {
    const now = this.#deps.clock.now();
    return this.#deps.storage.writes.write(async (tx) => {
      await lockTeam(tx, teamId);
      const old = (await selectApiKey(tx, teamId, keyId))?.key;
      if (!old) throw notFound('API key');
      if (!this.#isLive(old)) throw new AppError('conflict', 'the key is revoked or has expired: create a new one');
      const made = newApiKey({ ...old, expiresAt: old.expiresAt ?? undefined, createdBy }, now);
      const endsAt = Math.min(now + overlapMs, old.expiresAt ?? Infinity);
      if (!(await replaceApiKey(tx, { teamId, keyId, replacedBy: made.key.id, endsAt }))) {
        throw new AppError('conflict', 'the key was already rotated: rotate its replacement');
      }
      await this.#checkKeys(tx, teamId, 'rotated_api_keys_per_team', now);
      await insertApiKey(tx, made.key, made.secretHash);
      return { key: made.key, apiKey: made.apiKey };
    });
  }

  async #checkKeys(tx: Tx, teamId: string, quota: 'api_keys_per_team' | 'rotated_api_keys_per_team', now: number): Promise<void> {
    checkQuota(this.#deps.counters, quota, await countLiveApiKeys(tx, teamId, now, QUOTAS[quota].most));
  }

  async listApiKeys(teamId: string, page: Page = FIRST_PAGE): Promise<ApiKey[]> {
    return selectApiKeys(this.#deps.storage.db, teamId, page);
  }

  /**
   * The key is refused from the next request on; the control plane then ends what it opened.
   * @param revokeKeys also revokes the keys created with it
   * @throws AppError `not_found`, also for another team's key
   */
  async revokeApiKey(teamId: string, keyId: string, { revokeKeys = false } = {}): Promise<void> {
    const { storage, clock } = this.#deps;
    const now = clock.now();
    await storage.writes.write(async (tx) => {
      if (!(await revokeApiKey(tx, teamId, keyId, now))) throw notFound('API key');
      await insertRevocation(tx, { teamId, kind: 'api_key', subjectId: keyId, now, revokeKeys });
    });
  }

  /** The team of a key, for the server's administrator only. @throws AppError `not_found` */
  async findTeamOfApiKey(keyId: string): Promise<string> {
    const teamId = await selectTeamOfApiKey(this.#deps.storage.db, keyId);
    if (teamId === undefined) throw notFound(`API key ${keyId}`);
    return teamId;
  }

  async createServiceToken(name: string): Promise<{ record: ServiceToken; token: string }> {
    const now = this.#deps.clock.now();
    const token = `${SERVICE_TOKEN_PREFIX}${newSecret(API_KEY_SECRET_LENGTH)}`;
    const record = { id: newId(now), name: checkName(name), createdAt: now };
    await insertServiceToken(this.#deps.storage.db, record, hashSecret(token));
    return { record, token };
  }

  /** @throws AppError `not_found` */
  async revokeServiceToken(id: string): Promise<void> {
    if (!(await revokeServiceToken(this.#deps.storage.db, id, this.#deps.clock.now()))) throw notFound('service token');
  }

  /**
   * @throws AppError `invalid` for a site of another team, or an agent to replace that is unknown or revoked; `quota_exceeded` when
   *   the team has too many usable tokens
   */
  async createEnrolToken(request: NewEnrolToken): Promise<{ record: EnrolToken; token: string }> {
    const now = this.#deps.clock.now();
    const { replacesAgentId = null } = request;
    if (replacesAgentId !== null && request.siteId !== null) throw invalidField('site_id', 'must be left out: the agent stays in its site');
    const token = `${ENROL_TOKEN_PREFIX}${newSecret(API_KEY_SECRET_LENGTH)}`;
    const record: EnrolToken = {
      id: newId(now),
      teamId: request.teamId,
      siteId: request.siteId,
      createdAt: now,
      expiresAt: now + ENROL_TOKEN_LIFE_MS,
      usedAt: null,
      revokedAt: null,
      agentId: null,
      replacesAgentId,
    };
    await this.#deps.storage.writes.write(async (tx) => {
      await lockTeam(tx, request.teamId);
      const { most } = QUOTAS.enrol_tokens_per_team;
      const count = await countOpenEnrolTokens(tx, request.teamId, { now, since: now - ENROL_TOKEN_LIFE_MS, most });
      checkQuota(this.#deps.counters, 'enrol_tokens_per_team', count);
      if (replacesAgentId !== null && !(await hasLiveAgent(tx, request.teamId, replacesAgentId))) {
        throw invalidField('replaces_agent_id', 'is not an agent of this team, or is revoked');
      }
      if (!(await insertEnrolToken(tx, record, hashSecret(token)))) throw invalidField('site_id', 'is not a site of this team');
    });
    return { record, token };
  }

  async listEnrolTokens(teamId: string, page: Page = FIRST_PAGE): Promise<EnrolToken[]> {
    return selectEnrolTokens(this.#deps.storage.db, teamId, page);
  }

  /**
   * Does not affect an agent that has enrolled with the token: revoke the agent instead.
   * @throws AppError `not_found`, also for another team's token; `conflict` for a used token
   */
  async revokeEnrolToken(teamId: string, tokenId: string): Promise<void> {
    const { storage, clock } = this.#deps;
    if (await revokeEnrolToken(storage.db, teamId, tokenId, clock.now())) return;
    if (!(await selectEnrolToken(storage.db, teamId, tokenId))) throw notFound('enrolment token');
    throw new AppError('conflict', 'the token was used: revoke the agent that enrolled with it');
  }

  /** The team of a token, for the server's administrator only. @throws AppError `not_found` */
  async findTeamOfEnrolToken(tokenId: string): Promise<string> {
    const teamId = await selectTeamOfEnrolToken(this.#deps.storage.db, tokenId);
    if (teamId === undefined) throw notFound(`enrolment token ${tokenId}`);
    return teamId;
  }

  enrolTokenStatus(token: EnrolToken): EnrolTokenStatus {
    if (token.usedAt !== null) return 'used';
    if (token.revokedAt !== null) return 'revoked';
    return token.expiresAt > this.#deps.clock.now() ? 'open' : 'expired';
  }

  /**
   * Turns a one-use token into an agent with its own secret, shown once. Says why not only to a caller who has the token's secret.
   * With a replacement token, the caller takes over an existing agent, whose old secret is refused from now on.
   * @throws AppError `quota_exceeded` when the team has too many agents; the token stays usable. `conflict` when the agent to replace
   *   was revoked at the same time
   */
  async presentEnrolToken(token: string, name: string): Promise<Enrolment> {
    if (!isPrefixedToken(ENROL_TOKEN_PREFIX, token)) return { status: 'unknown' };
    const now = this.#deps.clock.now();
    const agentId = newId(now);
    const secret = newSecret(API_KEY_SECRET_LENGTH);
    const secretHash = hashSecret(token);
    const enrolment = await this.#deps.storage.writes.write<Enrolment>(async (tx) => {
      const claimed = await claimEnrolToken(tx, { secretHash, agentId, now });
      if (claimed) {
        await lockTeam(tx, claimed.teamId);
        const credential = { agentId: claimed.replacesAgentId ?? agentId, secretHash: hashSecret(secret) };
        if (claimed.replacesAgentId === null) await this.#addAgent(tx, { ...credential, token: claimed, name, now });
        else await replaceAgent(tx, { ...credential, teamId: claimed.teamId, now });
        return { status: 'enrolled', token: claimed, agentId: credential.agentId, secret };
      }
      const found = await selectEnrolTokenBySecret(tx, secretHash);
      const status = found && this.enrolTokenStatus(found);
      return found && status && status !== 'open' ? { status, token: found } : { status: 'unknown' };
    });
    if (enrolment.status === 'enrolled')
      this.enrolments.publish({
        teamId: enrolment.token.teamId,
        agentId: enrolment.agentId,
        name,
        replaced: enrolment.token.replacesAgentId !== null,
      });
    return enrolment;
  }

  async #addAgent(
    tx: Tx,
    { agentId, secretHash, token, name, now }: { agentId: string; secretHash: string; token: EnrolToken; name: string; now: number },
  ): Promise<void> {
    const { teamId, siteId } = token;
    checkQuota(this.#deps.counters, 'agents_per_team', await countAgents(tx, teamId, QUOTAS.agents_per_team.most));
    await insertAgent(tx, { id: agentId, teamId, siteId, name, secretHash, createdAt: now });
  }

  /**
   * {@link presentEnrolToken} for callers that need the agent.
   * @throws AppError `unauthenticated` with the reason, for a token that is unknown, used, expired or revoked
   */
  async enrolAgent(token: string, name: string): Promise<{ agent_id: string; secret: string }> {
    return enrolledOrRefused(await this.presentEnrolToken(token, name));
  }

  /**
   * Refuses the agent and every token created to replace it from now on. Closes its tunnel if it is on this node.
   * @throws AppError `not_found`, also for another team's agent
   */
  async revokeAgent(teamId: string, agentId: string, gateway: Pick<AgentGateway, 'disconnect'>): Promise<void> {
    const { storage, clock } = this.#deps;
    const now = clock.now();
    await storage.writes.write(async (tx) => {
      const wasLive = await hasLiveAgent(tx, teamId, agentId);
      if (!(await revokeAgent(tx, teamId, agentId, now))) throw notFound('agent');
      await revokeReplacementTokens(tx, teamId, agentId, now);
      await insertRevocation(tx, { teamId, kind: 'agent', subjectId: agentId, now });
      if (wasLive) await insertNotices(tx, [revokedNotice(teamId, agentId, now)], now);
    });
    gateway.disconnect(agentId, 'revoked');
  }

  #isLive(key: ApiKey): boolean {
    return key.revokedAt === null && (key.expiresAt === null || key.expiresAt > this.#deps.clock.now());
  }
}

/** What people are told of an agent that is refused from now on. */
function revokedNotice(teamId: string, agentId: string, at: number): NewNotice {
  const key = `agent:${agentId}:revoked`;
  return { teamId, kind: 'agent.revoked', phase: 'info', severity: 'warning', key, recordId: agentId, version: 0, agentId, at };
}

/** Gives the agent another credential. @throws AppError `conflict` when it is revoked */
async function replaceAgent(
  tx: Tx,
  { teamId, agentId, secretHash, now }: { teamId: string; agentId: string; secretHash: string; now: number },
): Promise<void> {
  if (!(await replaceAgentCredential(tx, { teamId, agentId, secretHash }))) {
    throw new AppError('conflict', 'the agent that this token replaces was revoked: enrol the new one as a separate agent');
  }
  // A second token for the same purpose would end the replacement that has just enrolled.
  await revokeReplacementTokens(tx, teamId, agentId, now);
}

/** @throws AppError `unauthenticated` with the reason */
export function enrolledOrRefused(enrolment: Enrolment): { agent_id: string; secret: string } {
  if (enrolment.status === 'enrolled') return { agent_id: enrolment.agentId, secret: enrolment.secret };
  throw new AppError('unauthenticated', refusalOf(enrolment));
}

function refusalOf(enrolment: Exclude<Enrolment, { status: 'enrolled' }>): string {
  const at = (moment: number | null): string => (moment === null ? '' : ` on ${new Date(moment).toISOString()}`);
  switch (enrolment.status) {
    case 'used':
      return `the enrolment token was used${at(enrolment.token.usedAt)}: it works for one agent only, create another token`;
    case 'revoked':
      return `the enrolment token was revoked${at(enrolment.token.revokedAt)}`;
    case 'expired':
      return `the enrolment token expired${at(enrolment.token.expiresAt)}: create another token`;
    case 'unknown':
      return 'the enrolment token is unknown: check that it is complete and was created on this control plane';
  }
}

function checkName(name: string): string {
  const trimmed = name.trim();
  if (trimmed.length === 0 || trimmed.length > LONGEST_NAME) throw invalidField('name', `must have 1 to ${LONGEST_NAME} characters`);
  return trimmed;
}

function newApiKey(request: NewApiKey, now: number): { key: ApiKey; apiKey: string; secretHash: string } {
  const secret = newSecret(API_KEY_SECRET_LENGTH);
  const key: ApiKey = {
    id: newId(now),
    teamId: request.teamId,
    name: request.name,
    role: request.role ?? 'admin',
    createdBy: request.createdBy,
    createdAt: now,
    lastUsedAt: null,
    expiresAt: request.expiresAt ?? null,
    revokedAt: null,
    replacedBy: null,
  };
  return { key, apiKey: formatApiKey({ tokenId: key.id, teamId: key.teamId, secret }), secretHash: hashSecret(secret) };
}
