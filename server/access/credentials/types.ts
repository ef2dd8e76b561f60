import type { Role } from '../../platform/core/principal.ts';

/** An API key as its team sees it. The secret is shown once, at creation. */
export interface ApiKey {
  id: string;
  teamId: string;
  name: string;
  role: Role;
  /** The user or the key that created it; null for the administrator of the server. */
  createdBy: string | null;
  createdAt: number;
  lastUsedAt: number | null;
  expiresAt: number | null;
  revokedAt: number | null;
  /** The key that replaced it at rotation. */
  replacedBy: string | null;
}

export interface NewApiKey {
  teamId: string;
  name: string;
  /** Default: the full rights of the team. */
  role?: Role | undefined;
  /** The user or key that creates it; null for the administrator of the server. */
  createdBy: string | null;
  /** Default: the key never expires. */
  expiresAt?: number | undefined;
}

export interface Rotation {
  /** The user or key that rotates it. */
  createdBy: string | null;
  /** How long the old key keeps working, milliseconds. */
  overlapMs: number;
}

/** A credential of another back-end service, for `/internal/*` only. It belongs to no team. */
export interface ServiceToken {
  id: string;
  name: string;
  createdAt: number;
}

export interface EnrolToken {
  id: string;
  teamId: string;
  siteId: string | null;
  createdAt: number;
  expiresAt: number;
  usedAt: number | null;
  revokedAt: number | null;
  agentId: string | null;
  /** The agent that an enrolment with this token replaces. */
  replacesAgentId: string | null;
}

export interface NewEnrolToken {
  teamId: string;
  /** Site of the agent and its routers. */
  siteId: string | null;
  /** The agent that an enrolment with this token replaces, if any. */
  replacesAgentId?: string | null | undefined;
}

export type EnrolTokenStatus = 'open' | 'used' | 'expired' | 'revoked';

/** Result of presenting an enrolment token. Only a caller who has the token's secret gets its status. */
export type Enrolment =
  | { status: 'enrolled'; token: EnrolToken; agentId: string; secret: string }
  | { status: Exclude<EnrolTokenStatus, 'open'>; token: EnrolToken }
  | { status: 'unknown' };

/** Owner of a tunnel's credential. */
export interface AgentIdentity {
  agentId: string;
  teamId: string;
  /** Hash of the presented secret: a session begins only while it is still the agent's secret. */
  credential: string;
}

/** A machine has got the credential of an agent. */
export interface AgentEnrolment {
  teamId: string;
  agentId: string;
  /** As it calls itself. One that replaces another keeps the name of that one. */
  name: string;
  /** It goes on as an agent that was there before. */
  replaced: boolean;
}
