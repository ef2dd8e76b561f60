import { linkOptions } from '@tanstack/react-router';

/** The places at the left, in groups: what there is, what is done with it, what is open, what is set up. */
export const PLACES = [
  [
    { name: 'Now', link: linkOptions({ to: '/', activeOptions: { exact: true } }) },
    { name: 'Routers', link: linkOptions({ to: '/routers', search: {}, activeOptions: { includeSearch: false } }) },
    { name: 'Agents', link: linkOptions({ to: '/agents', search: {}, activeOptions: { includeSearch: false } }) },
    { name: 'Sites', link: linkOptions({ to: '/sites', search: {}, activeOptions: { includeSearch: false } }) },
    { name: 'Map', link: linkOptions({ to: '/map' }) },
  ],
  [
    { name: 'Run', link: linkOptions({ to: '/run', search: {}, activeOptions: { includeSearch: false } }) },
    { name: 'Jobs', link: linkOptions({ to: '/jobs', search: {}, activeOptions: { includeSearch: false } }) },
    { name: 'Campaigns', link: linkOptions({ to: '/campaigns', activeOptions: { includeSearch: false } }) },
  ],
  [
    { name: 'Forwards', link: linkOptions({ to: '/forwards', search: {}, activeOptions: { includeSearch: false } }) },
    { name: 'Terminals', link: linkOptions({ to: '/terminals', search: {}, activeOptions: { includeSearch: false } }) },
    { name: 'Faults', link: linkOptions({ to: '/faults', search: {}, activeOptions: { includeSearch: false } }) },
    { name: 'Devices', link: linkOptions({ to: '/devices', search: {}, activeOptions: { includeSearch: false } }) },
  ],
  [
    { name: 'Notifications', link: linkOptions({ to: '/notifications' }) },
    { name: 'Settings', link: linkOptions({ to: '/settings' }) },
  ],
] as const;
