import { feature } from '../../feature.ts';
import type { Platform } from '../../feature.ts';
import type { StatesService } from '../states/service.ts';
import { SearchIndexer } from './indexer.ts';
import { searchRoute } from './routes.ts';
import { SearchService } from './service.ts';

interface Needs extends Pick<Platform, 'storage' | 'clock' | 'log'> {
  states: StatesService;
}

export const search = feature({
  create: ({ storage, clock, log, states }: Needs) => ({
    search: new SearchService({ storage, states }),
    searchIndexer: new SearchIndexer({ storage, clock, log }),
  }),
  start: ({ searchIndexer }) => searchIndexer.start(),
  stop: ({ searchIndexer }) => searchIndexer.stop(),
  routes: searchRoute,
});
