import { ErrorResponse, InMemoryWebStorage, UserManager, WebStorageStateStore } from 'oidc-client-ts';
import { ProblemError } from '../../../client/browser.ts';
import type { INavigator, IWindow, NavigateResponse } from 'oidc-client-ts';

/** A renewal on the provider's own cookie follows redirects to this address, which is never shown. */
const SILENT_CALLBACK = `${location.origin}/silent-callback`;

/** Same origin, so a plain request follows the provider's redirect: no frame, and an error is known at once. */
const byFetch: INavigator = {
  prepare: async (): Promise<IWindow> => ({
    navigate: async ({ url }): Promise<NavigateResponse> => {
      const answer = await fetch(url, { credentials: 'same-origin' });
      if (!answer.url.startsWith(SILENT_CALLBACK)) throw new Error(`the provider answered ${answer.status}`);
      return { url: answer.url };
    },
    close: () => undefined,
  }),
  callback: async () => undefined,
};

/**
 * Why the person was not signed in: they pressed Cancel, are in no team any more, or the control plane does not take the token that it has just
 * given. Undefined for any other failure.
 */
export function denialOf(reason: unknown): string | undefined {
  if (reason instanceof ProblemError && reason.status === 401) return reason.message;
  return reason instanceof ErrorResponse && reason.error === 'access_denied' ? (reason.error_description ?? '') : undefined;
}

/** The OpenID provider of this control plane. Tokens are kept in memory only; there is no refresh token. */
export function createManager(): UserManager {
  return new UserManager(
    {
      authority: `${location.origin}/oidc`,
      client_id: 'signalbox-console',
      redirect_uri: `${location.origin}/callback`,
      silent_redirect_uri: SILENT_CALLBACK,
      post_logout_redirect_uri: `${location.origin}/signed-out`,
      response_type: 'code',
      scope: 'openid email api',
      userStore: new WebStorageStateStore({ store: new InMemoryWebStorage() }),
      stateStore: new WebStorageStateStore({ store: sessionStorage }),
      automaticSilentRenew: false,
      // Whose session it is now is asked of the control plane, which also knows the team (tokens.ts).
      validateSubOnSilentRenew: false,
      loadUserInfo: false,
      monitorSession: false,
    },
    undefined,
    undefined,
    byFetch,
  );
}
