/**
 * The idempotency key of a campaign's job on a router: an index of the database (migration 5) refuses a second one. Callers
 * cannot choose it, theirs have no spaces.
 */
export function jobKey(campaignId: string, routerId: string): string {
  return `campaign ${campaignId} ${routerId}`;
}

/** The campaign that a job belongs to, if it belongs to one. */
export function campaignOfKey(key: string): string | undefined {
  const [word, campaignId] = key.split(' ');
  return word === 'campaign' ? campaignId : undefined;
}
