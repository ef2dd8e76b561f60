/**
 * The idempotency key of a campaign's job on a router: a unique index (migration 5) rejects a second one. Callers cannot choose it, because
 * their keys have no spaces.
 */
export function jobKey(campaignId: string, routerId: string): string {
  return `campaign ${campaignId} ${routerId}`;
}

/** The campaign that a job belongs to, if it belongs to one. */
export function campaignOfKey(key: string): string | undefined {
  const [word, campaignId] = key.split(' ');
  return word === 'campaign' ? campaignId : undefined;
}
