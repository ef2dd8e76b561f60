import { numberWords } from '../../../parts/sizes.ts';

export const words = {
  title: 'Map',
  sites: 'Sites',
  what: 'The sites',
  none: 'Sites with a position would be here. Give a site its latitude and longitude on its page.',
  placed: (placed: number, all: number) => `${placed} of ${all} on the map`,
  world: (sites: number) => `A map with ${numberWords(sites)} ${sites === 1 ? 'site' : 'sites'}; the list says the same in words`,
  mark: (site: string, answering: number, routers: number) =>
    `${site}: ${answering} of ${routers} ${answering === 1 ? 'answers' : 'answer'}`,
};
