/** What is typed before a terminal opens. */
export interface Draft {
  level: 'read' | 'full';
  reason: string;
}

type Store = Pick<Storage, 'getItem' | 'setItem' | 'removeItem'>;

const keyOf = (routerId: string): string => `signalbox terminal ${routerId}`;

/** Keeps it while the person signs in again: they leave the page for that. Only this tab has it. */
export function keepDraft(store: Store, routerId: string, { level, reason }: Draft): void {
  store.setItem(keyOf(routerId), `${level} ${reason}`);
}

export function readDraft(store: Store, routerId: string): Draft {
  const [, level = 'read', reason = ''] = /^(read|full) (.*)$/s.exec(store.getItem(keyOf(routerId)) ?? '') ?? [];
  return { level: level === 'full' ? 'full' : 'read', reason };
}

export function dropDraft(store: Store, routerId: string): void {
  store.removeItem(keyOf(routerId));
}
