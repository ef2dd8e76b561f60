import { describe, expect, it } from 'vitest';
import { changedFields, changedOfNewest } from '../../../console/src/parts/changed.ts';

describe('what a form sends of a record', () => {
  it('is what differs from what it began with, also what is null now', () => {
    const first = { name: 'Depot', latitude: 1, time_zone: 'UTC', windows: [{ day: 'monday', from: 0 }] };
    expect(changedFields<object>(first, { ...first, windows: [{ from: 0, day: 'monday' }] })).toEqual({});
    expect(changedFields<object>(first, { ...first, latitude: 2, time_zone: null })).toEqual({ latitude: 2, time_zone: null });
  });

  it('is of a list what was added to the newest one, without what was taken out', async () => {
    const first = { name: 'On call', people: ['a', 'b'] };
    const newest = async () => ({ name: 'Renamed', people: ['b', 'c', 'a', 'd'] });
    expect(await changedOfNewest(first, { people: ['b', 'd', 'e'] }, newest)).toEqual({ people: ['b', 'c', 'd', 'e'] });
    expect(await changedOfNewest(first, { name: 'Night', people: ['a', 'b'] }, newest)).toEqual({ name: 'Night' });
  });

  it('is of a list of records what is equal in every field', async () => {
    const way = (id: string, channel: string) => ({ id, channel });
    const first = { ways: [way('a', 'sms')] };
    const newest = async () => ({ ways: [{ channel: 'sms', id: 'a' }, way('b', 'email')] });
    expect(await changedOfNewest(first, { ways: [way('a', 'push')] }, newest)).toEqual({ ways: [way('b', 'email'), way('a', 'push')] });
  });

  it('reads nothing for a form that has changed no list', async () => {
    const never = () => Promise.reject(new Error('asked'));
    expect(await changedOfNewest<object>({ name: 'a', list: [1] }, { name: 'b', list: [1] }, never)).toEqual({ name: 'b' });
    await expect(changedOfNewest<object>({ list: [1] }, { list: [] }, never)).rejects.toThrow('asked');
  });
});
