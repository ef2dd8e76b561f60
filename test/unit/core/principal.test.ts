import { describe, expect, test } from 'vitest';
import { isSameCaller, isStillAllowed } from '../../../server/platform/core/principal.ts';
import type { Principal, Role } from '../../../server/platform/core/principal.ts';

const then: Principal = { kind: 'user', id: 'ada', teamId: 'one', role: 'operator' };

describe('a credential that is checked again', () => {
  test.each<[string, Principal | undefined, boolean]>([
    ['of the same caller', { ...then }, true],
    ['of the same caller, who has become an admin', { ...then, role: 'admin' }, true],
    ['of the same caller, who may only look now', { ...then, role: 'viewer' }, true],
    ['of another caller', { ...then, id: 'bob' }, false],
    ['of a key with the same id', { ...then, kind: 'api_key' }, false],
    ['of the same person in another team', { ...then, teamId: 'two' }, false],
    ['that is not valid any more', undefined, false],
  ])('%s', (_, now, same) => {
    expect(isSameCaller(now, then)).toBe(same);
  });

  // What is open stays open for a role that is enough, also when it has changed, and ends for one that is not.
  test.each<[Role, Role, boolean]>([
    ['operator', 'operator', true],
    ['admin', 'operator', true],
    ['viewer', 'operator', false],
    ['viewer', 'viewer', true],
  ])('with the role %s, where %s is needed: %s', (role, needed, allowed) => {
    expect(isStillAllowed({ ...then, role }, then, needed)).toBe(allowed);
  });

  test('of another caller is not enough, whatever its role', () => {
    expect(isStillAllowed({ ...then, id: 'bob', role: 'admin' }, then, 'viewer')).toBe(false);
    expect(isStillAllowed(undefined, then, 'viewer')).toBe(false);
  });
});
