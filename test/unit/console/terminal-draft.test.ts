import { describe, expect, it } from 'vitest';
import { dropDraft, keepDraft, readDraft } from '../../../console/src/pages/terminals/draft.ts';

function storage() {
  const kept = new Map<string, string>();
  return {
    getItem: (key: string) => kept.get(key) ?? null,
    setItem: (key: string, value: string) => void kept.set(key, value),
    removeItem: (key: string) => void kept.delete(key),
  };
}

describe('what was typed for a terminal', () => {
  it('is there again after another sign-in, for this router only, and once', () => {
    const store = storage();
    keepDraft(store, 'a', { level: 'full', reason: 'ticket 4711: full\nof faults' });
    expect(readDraft(store, 'b')).toEqual({ level: 'read', reason: '' });
    expect(readDraft(store, 'a')).toEqual({ level: 'full', reason: 'ticket 4711: full\nof faults' });
    dropDraft(store, 'a');
    expect(readDraft(store, 'a')).toEqual({ level: 'read', reason: '' });
  });
});
