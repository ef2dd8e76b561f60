import { describe, expect, it } from 'vitest';
import { dropDraft, keepDraft, keptDraft } from '../../../console/src/pages/work/run/kept-draft.ts';
import { EMPTY_DRAFT } from '../../../console/src/pages/work/run/script-form.ts';

describe('a script that was not sent', () => {
  it('is there again on the same page, for the same person, until it is dropped or emptied', () => {
    const desk = { userId: 'ada', page: 'run' } as const;
    const draft = { ...EMPTY_DRAFT, script: ':put hello' };
    keepDraft(desk, draft, EMPTY_DRAFT);
    expect(keptDraft(desk)).toEqual(draft);
    expect(keptDraft({ ...desk, userId: 'grace' })).toBeUndefined();
    expect(keptDraft({ ...desk, page: 'campaign' })).toBeUndefined();
    expect(keptDraft({ ...desk, from: 'router/job' })).toBeUndefined();
    dropDraft(desk);
    expect(keptDraft(desk)).toBeUndefined();
    keepDraft(desk, draft, EMPTY_DRAFT);
    keepDraft(desk, { ...EMPTY_DRAFT }, EMPTY_DRAFT);
    expect(keptDraft(desk)).toBeUndefined();
  });
});
