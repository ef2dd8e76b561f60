import type { IdentityService } from '../../access/identity/service.ts';
import type { AuthService } from '../../access/keys/service.ts';
import { feature } from '../../feature.ts';
import type { Authenticate } from '../../platform/http/authentication.ts';

interface Needs {
  auth: AuthService;
  identity: IdentityService;
}

/** Who may use the public interface: programs with an API key and people with a session. They are told apart by their form. */
export const callers = feature({
  create: ({ auth, identity }: Needs) => {
    const publicCaller: Authenticate = async (bearer) =>
      identity.recognises(bearer) ? identity.authenticate(bearer) : auth.authenticateApiKey(bearer);
    /** The same while a connection is open, which may outlive the access token that it began with. */
    const connectedCaller: Authenticate = async (bearer) =>
      identity.recognises(bearer) ? identity.authenticateConnection(bearer) : auth.authenticateApiKey(bearer);
    return { publicCaller, connectedCaller };
  },
});
