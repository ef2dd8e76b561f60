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
  noteRevocation,
  selectClient,
  selectClientAnywhere,
  selectClients,
  updateClient,
  updateClientSecret,
} from './store.ts';

const SECRET_LENGTH = 62;
/** Told apart at a glance, and by secret scanners. */
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

/** What is missing stays as it is. */
export interface ClientChange {
  name?: string | undefined;
  role?: Role | undefined;
  redirectUris?: string[] | undefined;
  postLogoutRedirectUris?: string[] | undefined;
}

/** Programs that a team lets act for its members. */
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
   * @returns the secret too, which nobody can read again; null for a kind that can keep none
   * @throws AppError `invalid` for an address that will not do, `quota_exceeded` when the team has too many
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

  /** @throws AppError `not_found`, `invalid` for an address that will not do */
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
      if (after.role !== before.role) await this.#noteRevocation(tx, teamId, id);
    });
    return after;
  }

  /**
   * A new secret, shown here and never again; the one before it is refused from now on.
   * @throws AppError `not_found`, `conflict` for a kind that has none
   */
  async renewSecret(teamId: string, id: string): Promise<{ client: Client; secret: string }> {
    const client = await this.get(teamId, id);
    if (client.kind !== 'web') throw new AppError('conflict', `a client of the kind ${client.kind} has no secret`);
    const secret = newClientSecret();
    await this.#storage.writes.write((tx) => updateClientSecret(tx, teamId, id, hashSecret(secret)));
    return { client, secret };
  }

  /** From now on nothing it holds is good any more. @throws AppError `not_found` */
  async delete(teamId: string, id: string): Promise<void> {
    await this.#storage.writes.write(async (tx) => {
      if (!(await deleteClient(tx, teamId, id))) throw notFound('client');
      await this.#noteRevocation(tx, teamId, id);
    });
  }

  #noteRevocation(tx: Tx, teamId: string, clientId: string): Promise<void> {
    return noteRevocation(tx, { teamId, kind: 'client', subjectId: clientId, now: this.#clock.now() });
  }

  /** Of whatever team: for the moment when it asks somebody to sign in. */
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
