import type { Adapter, AdapterPayload } from 'oidc-provider';
import type { ClientsService } from '../clients/service.ts';
import type { Client, ClientKind } from '../types.ts';

/** Provider settings of each client kind. */
const KIND_METADATA = {
  web: {
    application_type: 'web',
    token_endpoint_auth_method: 'client_secret_basic',
    response_types: ['code'],
    grant_types: ['authorization_code', 'refresh_token'],
  },
  browser: {
    application_type: 'web',
    token_endpoint_auth_method: 'none',
    response_types: ['code'],
    grant_types: ['authorization_code', 'refresh_token'],
  },
  native: {
    application_type: 'native',
    token_endpoint_auth_method: 'none',
    response_types: ['code'],
    grant_types: ['authorization_code', 'refresh_token'],
  },
  implicit: {
    application_type: 'web',
    token_endpoint_auth_method: 'none',
    response_types: ['id_token token', 'id_token'],
    grant_types: ['implicit'],
  },
} as const satisfies Record<ClientKind, object>;

/** Read access to registered clients for the provider. clients/service.ts writes them. */
export class ClientAdapter implements Adapter {
  readonly #clients: ClientsService;

  constructor(clients: ClientsService) {
    this.#clients = clients;
  }

  async find(id: string): Promise<AdapterPayload | undefined> {
    const found = await this.#clients.find(id);
    return found && toMetadata(found.client, found.secretHash);
  }

  async findByUid(): Promise<undefined> {
    return undefined;
  }

  async findByUserCode(): Promise<undefined> {
    return undefined;
  }

  async upsert(): Promise<void> {
    throw new TypeError('the provider does not write clients');
  }

  async consume(): Promise<void> {
    throw new TypeError('clients are not consumed');
  }

  async destroy(): Promise<void> {
    throw new TypeError('the provider does not delete clients');
  }

  async revokeByGrantId(): Promise<void> {
    throw new TypeError('clients have no grant');
  }
}

function toMetadata(client: Client, secretHash: string | null): AdapterPayload {
  const { response_types: responseTypes, grant_types: grantTypes, ...kind } = KIND_METADATA[client.kind];
  return {
    client_id: client.id,
    client_name: client.name,
    redirect_uris: client.redirectUris,
    post_logout_redirect_uris: client.postLogoutRedirectUris,
    response_types: [...responseTypes],
    grant_types: [...grantTypes],
    ...kind,
    ...(secretHash === null ? {} : { client_secret: secretHash }),
  };
}
