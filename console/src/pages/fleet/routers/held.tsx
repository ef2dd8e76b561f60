import { useState } from 'react';
import { AppLink } from '../../../parts/app-link.tsx';
import { handed } from '../../work/run/chosen.ts';
import { useCounts } from './chips.tsx';
import { BulkDialog } from './bulk-dialog.tsx';
import type { BulkKind } from './bulk-dialog.tsx';
import { words } from './words.ts';

interface Props {
  ids: readonly string[];
  isAll: boolean;
  /** The filter that found them. */
  q: string;
  shown: readonly string[];
  onOnlyShown: () => void;
  onClear: () => void;
}

/** What is selected, and what can be done with it. From the moment something is begun with them, the routers stay these. */
export function Held({ ids, isAll, q, shown, onOnlyShown, onClear }: Props) {
  const [bulk, setBulk] = useState<{ kind: BulkKind; ids: readonly string[] }>();
  const { answering } = useCounts(ids);
  const { search, state } = handed(ids, q);
  const rest = ids.length - answering;
  return (
    <div className="held" role="region" aria-label={words.held.label}>
      <b>{isAll ? words.held.all(ids.length) : words.held.some(ids.length)}</b>
      <span className="held-say">{words.held.say(answering, rest)}</span>
      {isAll && shown.length < ids.length ? (
        <button type="button" className="held-quiet m-no" onClick={onOnlyShown}>
          {words.held.onlyShown(shown.length)}
        </button>
      ) : null}
      <button type="button" className="held-line" onClick={() => setBulk({ kind: 'site', ids })}>
        {words.held.move}
      </button>
      <button type="button" className="held-line" onClick={() => setBulk({ kind: 'backup', ids })}>
        {words.held.backUp}
      </button>
      <AppLink className="held-line" href={`/run?${search}`} state={state}>
        {words.held.command}
      </AppLink>
      <AppLink className="held-first" href={ids.length === 1 ? `/run?${search}&mode=script` : `/campaigns/new?${search}`} state={state}>
        {words.held.script}
      </AppLink>
      <button type="button" className="held-quiet" onClick={onClear}>
        {words.held.clear}
      </button>
      {bulk ? <BulkDialog {...bulk} onClose={() => setBulk(undefined)} /> : null}
    </div>
  );
}
