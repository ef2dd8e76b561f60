import * as oidc from 'openid-client';
import type { Role } from '../../../server/platform/core/principal.ts';
import { CONSOLE_CLIENT_ID } from '../../../server/access/identity/types.ts';
import type { World } from '../world.ts';
import { FormBrowser } from './browser.ts';

export const PASSWORD = 'correct horse battery';

/** A member of the world's team, or of another one. @returns the user's id */
export async function addUser(world: World, email: string, role: Role, teamId = world.caller.teamId): Promise<string> {
  const { member } = await world.server.services.teams.createUser({ teamId, email, role, password: PASSWORD });
  return member.userId;
}

export interface ClientSettings {
  clientId?: string;
  secret?: string | null;
  redirectUri?: string;
}

/** A client program, with openid-client as its library: it finds the provider by its discovery document. */
export async function discover(world: World, { clientId = CONSOLE_CLIENT_ID, secret }: ClientSettings = {}): Promise<oidc.Configuration> {
  const authentication = secret === undefined || secret === null ? oidc.None() : oidc.ClientSecretBasic(secret);
  return oidc.discovery(new URL(`${world.server.url}/oidc`), clientId, undefined, authentication, {
    execute: [oidc.allowInsecureRequests],
  });
}

/** One authorization code flow under way. */
export class CodeFlow {
  readonly config: oidc.Configuration;
  readonly browser: FormBrowser;
  readonly redirectUri: string;
  readonly #verifier = oidc.randomPKCECodeVerifier();
  readonly #state = oidc.randomState();
  readonly #nonce = oidc.randomNonce();

  constructor(config: oidc.Configuration, browser: FormBrowser, redirectUri: string) {
    this.config = config;
    this.browser = browser;
    this.redirectUri = redirectUri;
  }

  /** The address that the browser is sent to. */
  async url(parameters: Record<string, string> = {}): Promise<string> {
    return oidc.buildAuthorizationUrl(this.config, {
      redirect_uri: this.redirectUri,
      scope: 'openid email offline_access api',
      code_challenge: await oidc.calculatePKCECodeChallenge(this.#verifier),
      code_challenge_method: 'S256',
      state: this.#state,
      nonce: this.#nonce,
      ...parameters,
    }).href;
  }

  /** Exchanges the code in the address that the browser came back to. */
  async tokens(callback: string): Promise<Awaited<ReturnType<typeof oidc.authorizationCodeGrant>>> {
    return oidc.authorizationCodeGrant(this.config, new URL(callback), {
      pkceCodeVerifier: this.#verifier,
      expectedState: this.#state,
      expectedNonce: this.#nonce,
    });
  }
}

/** Begins a flow in a browser of its own. */
export async function beginFlow(world: World, settings: ClientSettings = {}): Promise<CodeFlow> {
  const redirectUri = settings.redirectUri ?? `${world.server.url}/callback`;
  return new CodeFlow(await discover(world, settings), new FormBrowser(world.server.url), redirectUri);
}

/** Signs a person in to the first-party application. */
export async function signIn(world: World, email: string, password = PASSWORD): Promise<Awaited<ReturnType<CodeFlow['tokens']>>> {
  const flow = await beginFlow(world);
  const page = await flow.browser.open(await flow.url());
  const { url } = await flow.browser.submit(page, '/login', { email, password });
  return flow.tokens(url);
}

/** A team's own program that people may let keep access while they are away: only such programs get refresh tokens. */
export async function beginProgramFlow(world: World, teamId = world.caller.teamId): Promise<CodeFlow> {
  const redirectUri = 'https://program.example.net/callback';
  const program = { teamId, name: 'Program', kind: 'browser', role: 'admin', redirectUris: [redirectUri], createdBy: null } as const;
  const { client } = await world.server.services.identity.clients.create({ ...program, redirectUris: [redirectUri] });
  return beginFlow(world, { clientId: client.id, redirectUri });
}

/** Signs a person in to the program, and lets it keep access. @returns the address with the code */
export async function allowProgram(flow: CodeFlow, email: string, password = PASSWORD): Promise<string> {
  const page = await flow.browser.open(await flow.url({ prompt: 'consent' }));
  const consent = await flow.browser.submit(page, '/login', { email, password });
  return (await flow.browser.submit(consent, '/confirm')).url;
}

/** As {@link allowProgram} in a browser of its own. */
export async function signInToProgram(
  world: World,
  email: string,
): Promise<{ flow: CodeFlow; tokens: Awaited<ReturnType<CodeFlow['tokens']>>; refreshToken: string }> {
  const flow = await beginProgramFlow(world);
  const tokens = await flow.tokens(await allowProgram(flow, email));
  return { flow, tokens, refreshToken: tokens.refresh_token! };
}
