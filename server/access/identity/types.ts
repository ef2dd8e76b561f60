import type { Role } from '../../platform/core/principal.ts';

/** The first-party web application: public, trusted, known without registration. */
export const CONSOLE_CLIENT_ID = 'signalbox-console';
/** What lets a token ask the API, beside signing people in. */
export const API_SCOPE = 'api';
/** This product's choice; clients find the rest in the discovery document (docs/interface.md). */
export const OIDC_PATH = '/oidc';
/** Registered at an outside identity provider. */
export const UPSTREAM_CALLBACK_PATH = `${OIDC_PATH}/upstream/callback`;

/**
 * How a client receives tokens. `web` keeps a secret on a server; `browser` and `native` cannot and rely on PKCE alone;
 * `implicit` is for old browser applications that know nothing else.
 */
export const CLIENT_KINDS = ['web', 'browser', 'native', 'implicit'] as const;
export type ClientKind = (typeof CLIENT_KINDS)[number];

/** A program that may act for members of one team, once they agree. */
export interface Client {
  id: string;
  teamId: string;
  name: string;
  kind: ClientKind;
  /** The most it may do, whoever signs in. */
  role: Role;
  redirectUris: string[];
  postLogoutRedirectUris: string[];
  createdBy: string | null;
  createdAt: number;
}

/** Where a person stands at this moment, as asked at every request. */
export interface SessionHolder {
  role: Role;
  /** Tokens issued before are refused, milliseconds. */
  sessionsSince: number;
}

/** An outside OpenID provider that people may sign in with instead of a password. */
export interface UpstreamSettings {
  /** What the button on the sign-in page says. */
  name: string;
  issuer: string;
  clientId: string;
  clientSecret: string;
}
