import { countOf } from '../words.ts';

export const words = {
  campaigns: 'Campaigns',
  newCampaign: 'New campaign',
  columns: {
    state: 'State',
    campaign: 'Campaign',
    routers: 'Routers',
    failed: 'Failed',
    started: 'Started',
    noDescription: 'without a description',
    settled: (count: number, all: number) => `${count} of ${all}`,
  },
  empty: 'No campaign has been started.',
  emptyHint:
    'A campaign runs one script on many routers: a few canaries first, then the others at a rate, and it stops by itself when too many fail.',
  mayNot: 'People with the role operator start campaigns.',
  mayNotNew: 'People with the role operator start campaigns. Yours is viewer.',
  newOn: (routers: number) => `New campaign on ${countOf(routers, 'router')}`,
};
