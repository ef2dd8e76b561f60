import type { IdentityService } from '../../access/identity/service.ts';
import type { CredentialsService } from '../../access/credentials/service.ts';
import { feature } from '../../feature.ts';
import type { Authenticate } from '../../platform/http/authentication.ts';

interface Needs {
  credentials: CredentialsService;
  identity: IdentityService;
}

/** Authenticates callers of the public API: programs with an API key and people with a session. The form of the credential decides. */
export const callers = feature({
  create: ({ credentials, identity }: Needs) => {
    const publicCaller: Authenticate = async (bearer) =>
      identity.recognises(bearer) ? identity.authenticate(bearer) : credentials.authenticateApiKey(bearer);
    /** The same for an open connection, which may outlive its access token. */
    const connectedCaller: Authenticate = async (bearer) =>
      identity.recognises(bearer) ? identity.authenticateConnection(bearer) : credentials.authenticateApiKey(bearer);
    return { publicCaller, connectedCaller };
  },
});
