export const words = {
  story: (from: string) => `Agent and router, from ${from} until now`,
  sides: {
    agent: { name: 'Agent', heard: (share: string) => `connected ${share}` },
    router: { name: 'Router', heard: (share: string) => `answering ${share} when asked` },
  },
  nobodyKnew: 'nobody knew',
  share: (percent: number) => `${percent} %`,
  moreBreaks: (count: number) => `${count} more ${count === 1 ? 'break' : 'breaks'}`,
  breaks: { title: 'Breaks of agent and router', began: 'Began', length: 'Length', what: 'What' },
};
