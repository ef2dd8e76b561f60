import { hashKey } from '@tanstack/react-query';

/**
 * The fields of a form that differ from what it began with. Only they are sent, so that what somebody else has changed in the other fields
 * meanwhile stays.
 */
export function changedFields<T extends object>(first: T, now: Partial<T>): Partial<T> {
  const changed = Object.entries(now).filter(([name, value]) => !isSame(value, first[name as keyof T]));
  return Object.fromEntries(changed) as Partial<T>;
}

/**
 * The same of a record with lists. The interface takes a list whole: the newest one is read, what the form has added is added to it, and what
 * the form has taken out is taken out.
 */
export async function changedOfNewest<T extends object>(first: T, now: Partial<T>, readNewest: () => Promise<T>): Promise<Partial<T>> {
  const changed = changedFields(first, now);
  if (!Object.values(changed).some(Array.isArray)) return changed;
  const newest = await readNewest();
  const sent = Object.entries(changed).map(([name, value]) => [
    name,
    Array.isArray(value) ? changedList(listOf(first, name), value, listOf(newest, name)) : value,
  ]);
  return Object.fromEntries(sent) as Partial<T>;
}

function changedList(first: readonly unknown[], now: readonly unknown[], newest: readonly unknown[]): unknown[] {
  const stay = newest.filter((item) => !includes(first, item) || includes(now, item));
  const added = now.filter((item) => !includes(first, item) && !includes(newest, item));
  return [...stay, ...added];
}

function listOf(record: object, name: string): readonly unknown[] {
  const value: unknown = record[name as keyof typeof record];
  return Array.isArray(value) ? value : [];
}

function includes(list: readonly unknown[], item: unknown): boolean {
  return list.some((one) => isSame(one, item));
}

function isSame(one: unknown, other: unknown): boolean {
  return hashKey([one]) === hashKey([other]);
}
