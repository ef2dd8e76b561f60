import { feature } from '../../feature.ts';
import type { Platform } from '../../feature.ts';
import { SitesService } from './service.ts';

export const sites = feature({
  create: ({ storage, clock }: Pick<Platform, 'storage' | 'clock'>) => ({ sites: new SitesService({ storage, clock }) }),
});
