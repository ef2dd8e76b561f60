import { describe, expect, it } from 'vitest';
import { queryOf, readAuditSearch } from '../../../console/src/pages/settings/audit/search.ts';
import { deedOf, outcomeOf } from '../../../console/src/pages/settings/audit/words.ts';
import { PUBLIC_ROUTES } from '../../harness/route-table.ts';

const WRITES = PUBLIC_ROUTES.filter(({ method }) => method !== 'GET').map(
  ({ method, path }) => `${method} ${path.replaceAll(/\{(\w+)\}/g, ':$1')}`,
);

describe('words of the audit log', () => {
  it.each(WRITES)('tell what %s did', (action) => {
    expect(deedOf(action)).not.toBe(action);
  });

  it('leave an action that a newer control plane added as it is', () => {
    expect(deedOf('POST /api/rockets/:id')).toBe('POST /api/rockets/:id');
  });

  it('are silent about what was done, and say why something was refused', () => {
    expect(outcomeOf(200)).toBeUndefined();
    expect(outcomeOf(403)).toContain('role');
  });
});

describe('the filter of the audit log', () => {
  it('ignores what is no filter', () => {
    expect(readAuditSearch({ actor: '', action: 5, from: 'yesterday', to: '2031-05-02', q: 'x' })).toEqual({ to: '2031-05-02' });
  });

  it('asks from the begin of the first day to the end of the last', () => {
    const { since, until } = queryOf({ from: '2031-05-01', to: '2031-05-02' });
    expect([new Date(since!), new Date(until!)]).toEqual([new Date(2031, 4, 1), new Date(2031, 4, 3)]);
  });

  it('leaves out a day that is none', () => {
    expect(queryOf({ from: '0000-99-99x' })).toEqual({});
  });
});
