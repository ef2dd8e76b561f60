import type { Bus } from './types.ts';

/**
 * Tells a list in as few messages as the bus takes. Never throws; while the bus is away nothing is sent.
 * @param most items of one message, as its readers allow
 * @param hintOf the message with some of them
 */
export function publishList<T>(
  bus: Pick<Bus, 'publish'>,
  subject: string,
  items: readonly T[],
  { most, hintOf }: { most: number; hintOf: (items: readonly T[]) => unknown },
): void {
  for (let from = 0; from < items.length; from += most) {
    const some = items.slice(from, from + most);
    if (bus.publish(subject, hintOf(some)) !== 'too_large' || some.length === 1) continue;
    publishList(bus, subject, some, { most: Math.ceil(some.length / 2), hintOf });
  }
}
