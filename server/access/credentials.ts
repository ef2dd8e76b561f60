import type { AuthService } from './keys/service.ts';
import type { Authenticate } from '../platform/http/authentication.ts';
import type { IdentityService } from './identity/service.ts';

/** Who may ask the public interface: programs with an API key and people with a session. They are told apart by their form. */
export function publicCaller({ auth, identity }: { auth: AuthService; identity: IdentityService }): Authenticate {
  return async (bearer) => (identity.recognises(bearer) ? identity.authenticate(bearer) : auth.authenticateApiKey(bearer));
}

/** The same while a connection is open, which may outlive the access token that it began with. */
export function connectedCaller({ auth, identity }: { auth: AuthService; identity: IdentityService }): Authenticate {
  return async (bearer) => (identity.recognises(bearer) ? identity.authenticateConnection(bearer) : auth.authenticateApiKey(bearer));
}
