import type { CampaignTarget, OutputGroup } from '../../../../../client/browser.ts';

/** Groups that are read; the largest come first. */
export const READ_GROUPS = 50;

/** The first line of a text that is not blank. */
export function firstLineOf(text: string): string | undefined {
  return text.split('\n').find((line) => line.trim() !== '');
}

/**
 * What a router's script said first. A group names only some of its routers; another one belongs to it when no other group has its result.
 * @param groups all of the campaign
 */
export function saidBy({ router_id: id, status, reason }: CampaignTarget, groups: readonly OutputGroup[]): string | undefined {
  const alike = groups.filter((group) => group.status === status && group.reason === reason);
  const group = alike.find(({ router_ids: ids }) => ids.includes(id)) ?? (alike.length === 1 ? alike[0] : undefined);
  return group && firstLineOf(group.error ?? group.output ?? '');
}
