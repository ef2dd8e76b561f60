import { useEffect, useState } from 'react';
import { useFleet } from '../../../data/use-fleet.ts';
import type { WriteState } from '../../../data/use-write.ts';
import { dropDraft, keepDraft, keptDraft } from './kept-draft.ts';
import type { Desk } from './kept-draft.ts';
import type { ScriptDraft } from './script-form.ts';

interface Written {
  desk: Desk;
  /** What the form begins with when nothing was kept. */
  first: ScriptDraft;
  draft: ScriptDraft;
  change: (part: Partial<ScriptDraft>) => void;
  /** It shows what was written before the page was left. */
  isKept: boolean;
  beginAnew: () => void;
}

/** What is written in the form; what was written there before and not sent, if there is any. */
export function useDraft({ page, from }: Omit<Desk, 'userId'>, shown: ScriptDraft): Written {
  const { me } = useFleet();
  const [desk] = useState<Desk>({ userId: me.id, page, from });
  const [first] = useState(shown);
  const [before] = useState(() => keptDraft(desk));
  const [isKept, setKept] = useState(before !== undefined);
  const [draft, setDraft] = useState(before ?? first);
  return {
    desk,
    first,
    draft,
    change: (part) => setDraft((now) => ({ ...now, ...part })),
    isKept,
    beginAnew: () => {
      setDraft(first);
      setKept(false);
    },
  };
}

/** Keeps it for when the page is left. What may have been sent is not kept: from another page it would be sent twice. */
export function useKeeping({ desk, draft, first }: Written, state: WriteState): void {
  const isUnsent = state.kind === 'idle' || state.kind === 'refused';
  useEffect(() => {
    if (isUnsent) keepDraft(desk, draft, first);
    else dropDraft(desk);
  }, [desk, draft, first, isUnsent]);
}
