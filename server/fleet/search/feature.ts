import { feature } from '../../feature.ts';
import type { Platform } from '../../feature.ts';
import type { StatesService } from '../states/service.ts';
import { searchRoute } from './routes.ts';
import { SearchService } from './service.ts';

interface Needs extends Pick<Platform, 'storage'> {
  states: StatesService;
}

export const search = feature({
  create: ({ storage, states }: Needs) => ({ search: new SearchService({ storage, states }) }),
  routes: searchRoute,
});
