import { numberWords } from '../../../parts/sizes.ts';

export const words = {
  sites: 'Sites',
  map: 'Map',
  add: 'Add a site',
  filter: 'Name',
  found: '{shown} of {all}',
  none: 'Places where routers stand would be here. A site gives them a time zone and a place on the map.',
  noMatch: 'No site matches. Shorten the filter.',
  columns: { site: 'Site', answering: 'Answering', routers: 'Routers', zone: 'Time zone', position: 'Position' },
  share: {
    none: 'no routers',
    all: (routers: number) => (routers === 1 ? 'its router answers' : `all ${routers} answer`),
    some: (answering: number, routers: number) => `${answering} of ${routers} ${answering === 1 || routers === 1 ? 'answers' : 'answer'}`,
  },
  site: {
    what: 'site',
    silence: 'Silence',
    change: 'Change',
    remove: 'Remove',
    routers: 'Routers',
    inList: 'In the list of routers',
    empty: 'No router stands here. Select routers in their list and move them to this site.',
    some: (shown: number, all: number) => `${shown} of ${numberWords(all)}, trouble first`,
    /** Beside how many are listed, where there is room for the rails. */
    rails: ', last 24 hours at the right',
  },
  removal: {
    title: (name: string) => `Remove the site ${name}?`,
    remove: 'Remove the site',
    empty: 'Notification groups lose it. A site with an agent cannot be removed.',
    moveFirst: (routers: number) =>
      `Move its ${routers === 1 ? 'router' : `${numberWords(routers)} routers`} to another site first: a site with routers or agents cannot be removed.`,
  },
  dialog: {
    change: (name: string) => `Change ${name}`,
    add: 'Add a site',
    name: 'Name',
    zone: 'Time zone',
    zoneHint: 'As Europe/Riga. Days of its availability begin there.',
    latitude: 'Latitude',
    latitudeHint: 'Degrees, north is positive',
    longitude: 'Longitude',
    longitudeHint: 'Degrees, east is positive',
    cancel: 'Cancel',
    save: 'Save',
    make: 'Add the site',
  },
};
