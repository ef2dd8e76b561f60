import type { Clock } from '../../../platform/core/clock.ts';
import type { Counters } from '../../../platform/core/counters.ts';
import { AppError, invalidField, notFound } from '../../../platform/core/errors.ts';
import { hashSecret, newId, newSecret } from '../../../platform/core/ids.ts';
import { FIRST_PAGE } from '../../../platform/core/page.ts';
import type { Page } from '../../../platform/core/page.ts';
import type { Role } from '../../../platform/core/principal.ts';
import { checkQuota } from '../../../platform/core/quotas.ts';
import type { Storage, Tx } from '../../../platform/storage/db.ts';
import type { Client, ClientKind } from '../types.ts';
import { checkRedirectUris } from './redirect-uris.ts';
import {
  countClients,
  deleteClient,
  insertClient,
  lockTeam,
  insertRevocation,
  selectClient,
  selectClientAnywhere,
  selectClients,
  updateClient,
  updateClientSecret,
} from './store.ts';

const SECRET_LENGTH = 62;
/** A prefix that people and secret scanners recognise. */
const SECRET_PREFIX = 'sbx_cli_';

export interface NewClient {
  teamId: string;
  name: string;
  kind: ClientKind;
  role: Role;
  redirectUris: string[];
  postLogoutRedirectUris?: string[] | undefined;
  createdBy: string | null;
}

/** Missing fields stay unchanged. */
export interface ClientChange {
  name?: string | undefined;
  role?: Role | undefined;
  redirectUris?: string[] | undefined;
  postLogoutRedirectUris?: string[] | undefined;
}

/** OpenID clients that may act for the members of a team. */
export class ClientsService {
  readonly #storage: Storage;
  readonly #clock: Clock;
  readonly #counters: Counters | undefined;

  constructor(deps: { storage: Storage; clock: Clock; counters?: Counters | undefined }) {
    this.#storage = deps.storage;
    this.#clock = deps.clock;
    this.#counters = deps.counters;
  }

  /**
   * @returns the secret too, which cannot be read again; null for a kind that cannot keep one
   * @throws AppError `invalid` for a bad address, `quota_exceeded` when the team has too many
   */
  async create(wanted: NewClient): Promise<{ client: Client; secret: string | null }> {
    const createdAt = this.#clock.now();
    const { teamId, name, kind, role, createdBy } = wanted;
    const redirectUris = checkOwn(wanted.kind, wanted.redirectUris);
    const postLogoutRedirectUris = checkRedirectUris('post_logout_redirect_uris', kind, wanted.postLogoutRedirectUris ?? []);
    const client: Client = { id: newId(createdAt), teamId, name, kind, role, redirectUris, postLogoutRedirectUris, createdBy, createdAt };
    const secret = kind === 'web' ? newClientSecret() : null;
    await this.#storage.writes.write(async (tx) => {
      await lockTeam(tx, teamId);
      checkQuota(this.#counters, 'clients_per_team', await countClients(tx, teamId));
      await insertClient(tx, client, secret === null ? null : hashSecret(secret));
    });
    return { client, secret };
  }

  async list(teamId: string, page: Page = FIRST_PAGE): Promise<Client[]> {
    return selectClients(this.#storage.db, teamId, page);
  }

  /** @throws AppError `not_found`, also for another team's client */
  async get(teamId: string, id: string): Promise<Client> {
    const client = await selectClient(this.#storage.db, teamId, id);
    if (!client) throw notFound('client');
    return client;
  }

  /** @throws AppError `not_found`, `invalid` for a bad address */
  async change(teamId: string, id: string, change: ClientChange): Promise<Client> {
    const before = await this.get(teamId, id);
    const { redirectUris, postLogoutRedirectUris } = change;
    const after: Client = {
      ...before,
      name: change.name ?? before.name,
      role: change.role ?? before.role,
      redirectUris: redirectUris === undefined ? before.redirectUris : checkOwn(before.kind, redirectUris),
      postLogoutRedirectUris:
        postLogoutRedirectUris === undefined
          ? before.postLogoutRedirectUris
          : checkRedirectUris('post_logout_redirect_uris', before.kind, postLogoutRedirectUris),
    };
    await this.#storage.writes.write(async (tx) => {
      await updateClient(tx, after);
      if (after.role !== before.role) await this.#insertRevocation(tx, teamId, id);
    });
    return after;
  }

  /**
   * Creates a new secret, returned only here; the old one is refused from now on.
   * @throws AppError `not_found`, `conflict` for a kind without a secret
   */
  async renewSecret(teamId: string, id: string): Promise<{ client: Client; secret: string }> {
    const client = await this.get(teamId, id);
    if (client.kind !== 'web') throw new AppError('conflict', `a client of kind ${client.kind} has no secret`);
    const secret = newClientSecret();
    await this.#storage.writes.write((tx) => updateClientSecret(tx, teamId, id, hashSecret(secret)));
    return { client, secret };
  }

  /** Deletes the client and invalidates everything issued to it. @throws AppError `not_found` */
  async delete(teamId: string, id: string): Promise<void> {
    await this.#storage.writes.write(async (tx) => {
      if (!(await deleteClient(tx, teamId, id))) throw notFound('client');
      await this.#insertRevocation(tx, teamId, id);
    });
  }

  #insertRevocation(tx: Tx, teamId: string, clientId: string): Promise<void> {
    return insertRevocation(tx, { teamId, kind: 'client', subjectId: clientId, now: this.#clock.now() });
  }

  /** A client of any team, for a sign-in that it starts. */
  async find(id: string): Promise<{ client: Client; secretHash: string | null } | undefined> {
    return selectClientAnywhere(this.#storage.db, id);
  }
}

function newClientSecret(): string {
  return `${SECRET_PREFIX}${newSecret(SECRET_LENGTH)}`;
}

function checkOwn(kind: ClientKind, uris: readonly string[]): string[] {
  if (uris.length === 0) throw invalidField('redirect_uris', 'must have at least one address');
  return checkRedirectUris('redirect_uris', kind, uris);
}
