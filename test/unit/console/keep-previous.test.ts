import { describe, expect, it } from 'vitest';
import { keepPrevious, ownerOfList, secondPart } from '../../../console/src/data/keep-previous.ts';

const ROWS = ['a row'];
const listKey = (path: unknown, query: unknown) => ['jobs', 'listJobs', { path, query }];

describe('data that stay while the next are read', () => {
  it('are those of the same router, for another time', () => {
    const keep = keepPrevious(['health', 'r1', '24h'], secondPart);
    expect(keep(ROWS, { queryKey: ['health', 'r1', '7d'] })).toBe(ROWS);
    expect(keep(ROWS, { queryKey: ['health', 'r2', '24h'] })).toBeUndefined();
    expect(keep(ROWS, undefined)).toBeUndefined();
  });

  it('are rows of the same path, for another filter', () => {
    const keep = keepPrevious(listKey({ router_id: 'r1' }, { limit: 5 }), ownerOfList);
    expect(keep(ROWS, { queryKey: listKey({ router_id: 'r1' }, { limit: 9 }) })).toBe(ROWS);
    expect(keep(ROWS, { queryKey: listKey({ router_id: 'r2' }, { limit: 5 }) })).toBeUndefined();
  });

  it('are no rows of a router that the filter of a list named', () => {
    const keep = keepPrevious(listKey(undefined, { router_id: 'r1' }), ownerOfList);
    expect(keep(ROWS, { queryKey: listKey(undefined, { router_id: 'r1', status: 'open' }) })).toBe(ROWS);
    expect(keep(ROWS, { queryKey: listKey(undefined, { router_id: 'r2' }) })).toBeUndefined();
  });
});
