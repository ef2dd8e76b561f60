import type { Role } from '../../platform/core/principal.ts';

/** The first-party web application: public, trusted, known without registration. */
export const CONSOLE_CLIENT_ID = 'signalbox-console';
/** The scope that lets a token use the API. */
export const API_SCOPE = 'api';
/** Path of the provider; clients find the rest in the discovery document (docs/interface.md). */
export const OIDC_PATH = '/oidc';
/** Callback path, registered at the upstream identity provider. */
export const UPSTREAM_CALLBACK_PATH = `${OIDC_PATH}/upstream/callback`;

/**
 * How a client receives tokens. `web` keeps a secret on a server; `browser` and `native` cannot and rely on PKCE alone;
 * `implicit` is for old browser applications that support nothing else.
 */
export const CLIENT_KINDS = ['web', 'browser', 'native', 'implicit'] as const;
export type ClientKind = (typeof CLIENT_KINDS)[number];

/** A program that may act for members of one team, once they agree. */
export interface Client {
  id: string;
  teamId: string;
  name: string;
  kind: ClientKind;
  /** Its highest role, whatever the role of the user. */
  role: Role;
  redirectUris: string[];
  postLogoutRedirectUris: string[];
  createdBy: string | null;
  createdAt: number;
}

/** The current rights of a person, read at every request. */
export interface SessionHolder {
  role: Role;
  /** Tokens issued before this time are refused, milliseconds. */
  sessionsSince: number;
  isInstallationAdmin: boolean;
}

/** An external OpenID provider for sign-in without a password. */
export interface UpstreamSettings {
  /** Label of the button on the sign-in page. */
  name: string;
  issuer: string;
  clientId: string;
  clientSecret: string;
}
