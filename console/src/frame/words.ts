export const words = {
  skip: 'Skip to the page',
  brand: 'Signalbox',
  home: 'Signalbox, fleet now',
  places: 'Places',
  api: 'API',
  signOut: 'Sign out',
  shelf: 'Routers by state',
  reload: 'Reload',
  tryAgain: 'Try again',
  goTo: { long: 'Go to a router, agent, site, job', short: 'Go to' },
  keys: {
    title: 'Keys',
    /** Each key with what it does. */
    list: [
      ['/', 'go to a router, agent, site, job, saved view or place (also Ctrl K)'],
      ['?', 'these keys'],
      ['[  ]', 'the router before, the next one, in the filter'],
      ['↑  ↓', 'from row to row of the list of routers'],
      ['Enter', 'opens the row'],
      ['Space', 'selects the row'],
      ['Esc', 'closes what floats'],
    ] satisfies [string, string][],
  },
  live: {
    refused: (reason: string) => `not live, read every 30 s: ${reason}`,
    connecting: 'connecting',
    broken: (age: string) => `last news ${age} ago, reconnecting`,
    live: 'live',
  },
  failed: {
    title: 'This page cannot be shown',
    proxy: 'If that does not help, a proxy on the way does not let its files through.',
    silent: 'The control plane does not answer yet.',
  },
  role: { now: (role: string) => `Your role is now ${role}.`, lower: 'What it does not allow is gone from this page.', close: 'Close' },
};
