import type { LiveTerms } from './live-forward.ts';
import type { ForwardRecord } from './types.ts';

/** The terms that a record has. */
export function termsOf(record: ForwardRecord): LiveTerms {
  return { expiresAt: record.expires_at, setAt: record.renewed_at ?? record.created_at, allowOnlyCidr: record.allow_only_cidr };
}
