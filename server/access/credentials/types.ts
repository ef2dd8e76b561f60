import type { Role } from '../../platform/core/principal.ts';

/** A developer API key as its team sees it; the secret is shown once, at creation. */
export interface ApiKey {
  id: string;
  teamId: string;
  name: string;
  role: Role;
  /** The user or the key that made it; null for the administrator of the server. */
  createdBy: string | null;
  createdAt: number;
  lastUsedAt: number | null;
  expiresAt: number | null;
  revokedAt: number | null;
  /** The key it was rotated to. */
  replacedBy: string | null;
}

export interface NewApiKey {
  teamId: string;
  name: string;
  /** The team's full rights when missing. */
  role?: Role | undefined;
  /** The user or key that makes it; null for the administrator of the server. */
  createdBy: string | null;
  /** Never when missing. */
  expiresAt?: number | undefined;
}

export interface Rotation {
  /** Who rotates. */
  createdBy: string | null;
  /** How long the old key still works, milliseconds. */
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
  /** Whoever enrols with it goes on as this agent. */
  replacesAgentId: string | null;
}

export interface NewEnrolToken {
  teamId: string;
  /** Where the agent and its routers stand. */
  siteId: string | null;
  /** The agent that whoever enrols with it goes on as; none when missing. */
  replacesAgentId?: string | null | undefined;
}

export type EnrolTokenStatus = 'open' | 'used' | 'expired' | 'revoked';

/** What presenting an enrolment token came to. Only who has a token's secret is told what became of it. */
export type Enrolment =
  | { status: 'enrolled'; token: EnrolToken; agentId: string; secret: string }
  | { status: Exclude<EnrolTokenStatus, 'open'>; token: EnrolToken }
  | { status: 'unknown' };

/** Whom a tunnel's credential belongs to. */
export interface AgentIdentity {
  agentId: string;
  teamId: string;
  /** Hash of the secret that was shown: a session begins only while the agent still has it. */
  credential: string;
}
