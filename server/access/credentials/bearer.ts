import { isUuid } from '../../platform/core/ids.ts';

/** Length of an API key's secret (docs/interface.md). */
export const API_KEY_SECRET_LENGTH = 62;
const TOKEN_SECRET_LENGTH = 62;
/** A prefix that people and secret scanners recognise. */
export const SERVICE_TOKEN_PREFIX = 'sbx_svc_';
export const ENROL_TOKEN_PREFIX = 'sbx_enr_';

const SECRET = /^[A-Za-z0-9]{62}$/;

export interface ApiKeyParts {
  tokenId: string;
  teamId: string;
  secret: string;
}

/** Parses `<token_id>:<team_id>:<secret>`; undefined for anything else. */
export function parseApiKey(bearer: string): ApiKeyParts | undefined {
  const [tokenId, teamId, secret, ...rest] = bearer.split(':');
  if (tokenId === undefined || teamId === undefined || secret === undefined || rest.length > 0) return undefined;
  return isUuid(tokenId) && isUuid(teamId) && SECRET.test(secret) ? { tokenId, teamId, secret } : undefined;
}

export function formatApiKey({ tokenId, teamId, secret }: ApiKeyParts): string {
  return `${tokenId}:${teamId}:${secret}`;
}

/** Parses `<agent_id>:<secret>`; undefined for anything else. */
export function parseAgentBearer(bearer: string): { agentId: string; secret: string } | undefined {
  const [agentId, secret, ...rest] = bearer.split(':');
  if (agentId === undefined || secret === undefined || rest.length > 0) return undefined;
  return isUuid(agentId) && SECRET.test(secret) ? { agentId, secret } : undefined;
}

/** True for a well-formed token with this prefix. */
export function isPrefixedToken(prefix: string, token: string): boolean {
  return token.length === prefix.length + TOKEN_SECRET_LENGTH && token.startsWith(prefix) && SECRET.test(token.slice(prefix.length));
}
