import type { IdentityService } from '../../access/identity/service.ts';
import type { CredentialsService } from '../../access/credentials/service.ts';
import { feature } from '../../feature.ts';
import type { Authenticate } from '../../platform/http/authentication.ts';

interface Needs {
  credentials: CredentialsService;
  identity: IdentityService;
}

/** Who may use the public interface: programs with an API key and people with a session. They are told apart by their form. */
export const callers = feature({
  create: ({ credentials, identity }: Needs) => {
    const publicCaller: Authenticate = async (bearer) =>
      identity.recognises(bearer) ? identity.authenticate(bearer) : credentials.authenticateApiKey(bearer);
    /** The same while a connection is open, which may outlive the access token that it began with. */
    const connectedCaller: Authenticate = async (bearer) =>
      identity.recognises(bearer) ? identity.authenticateConnection(bearer) : credentials.authenticateApiKey(bearer);
    return { publicCaller, connectedCaller };
  },
});
