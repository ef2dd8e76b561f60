import { describe, expect, it } from 'vitest';
import { colsOf, columnsOf } from '../../../console/src/pages/fleet/routers/columns.ts';
import { isSelected, NONE, selectedOf, toggled } from '../../../console/src/pages/fleet/routers/selection.ts';

const IDS = ['a', 'b', 'c'];

describe('a selection', () => {
  it('of all is what the filter finds, also later', () => {
    expect(selectedOf({ kind: 'all' }, IDS)).toEqual(IDS);
    expect(selectedOf({ kind: 'all' }, [...IDS, 'd'])).toHaveLength(4);
    expect(isSelected({ kind: 'all' }, 'z')).toBe(true);
  });

  it('leaves the others when one is taken out of all', () => {
    expect(selectedOf(toggled({ kind: 'all' }, 'b', IDS), IDS)).toEqual(['a', 'c']);
  });

  it('stays some with the last one ticked by hand, and is none without one', () => {
    const two = toggled(toggled(NONE, 'a', IDS), 'c', IDS);
    expect(selectedOf(two, IDS)).toEqual(['a', 'c']);
    expect(toggled(two, 'b', IDS)).toEqual({ kind: 'some', ids: new Set(IDS) });
    expect(toggled(toggled(two, 'a', IDS), 'c', IDS)).toEqual(NONE);
  });

  it('does not grow to the whole fleet when the filter of its only match is cleared', () => {
    const one = toggled(NONE, 'b', ['b']);
    expect(selectedOf(one, IDS)).toEqual(['b']);
  });

  it('never reaches a router that the filter does not find any more', () => {
    expect(selectedOf({ kind: 'some', ids: new Set(['a', 'gone']) }, IDS)).toEqual(['a']);
  });
});

describe('the columns of the list', () => {
  it('are in the address only when they are not the usual ones', () => {
    const usual = columnsOf(undefined).map(({ key }) => key);
    expect(colsOf(usual)).toBeUndefined();
    expect(colsOf(['since', 'site'])).toBe('site,since');
    expect(columnsOf('site,since,nonsense').map(({ key }) => key)).toEqual(['state', 'identity', 'site', 'since']);
    expect(columnsOf('').map(({ key }) => key)).toEqual(['state', 'identity']);
  });
});
