import { feature } from '../../feature.ts';
import type { Platform } from '../../feature.ts';
import { PlacesService } from './service.ts';

export const sites = feature({
  create: ({ storage, clock }: Pick<Platform, 'storage' | 'clock'>) => ({ places: new PlacesService({ storage, clock }) }),
});
