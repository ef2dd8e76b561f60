import { useState } from 'react';
import { AppLink } from '../../../parts/app-link.tsx';
import { useCounts } from './chips.tsx';
import { BulkDialog } from './bulk-dialog.tsx';

interface Props {
  ids: readonly string[];
  isAll: boolean;
  /** A filter that names the same routers; empty: all of the team. */
  q: string;
  shown: readonly string[];
  onOnlyShown: () => void;
  onClear: () => void;
}

/** More routers than this are named by the filter and not one by one: the address would be too long for some proxies. */
const MOST_NAMED = 100;

/** What is selected, and what can be done with it. */
export function Held({ ids, isAll, q, shown, onOnlyShown, onClear }: Props) {
  const [bulk, setBulk] = useState<'site' | 'backup'>();
  const { answering } = useCounts(ids);
  const which = isAll && (q !== '' || ids.length > MOST_NAMED) ? `q=${encodeURIComponent(q)}` : `routers=${ids.join()}`;
  const rest = ids.length - answering;
  return (
    <div className="held" role="region" aria-label="Selection">
      <b>{isAll ? `All ${ids.length} selected` : `${ids.length} selected`}</b>
      <span className="held-say">
        {answering} answer now{rest === 0 ? '' : `, ${rest} will wait or expire`}. The list is fixed when you start.
      </span>
      {isAll && shown.length < ids.length ? (
        <button type="button" className="held-quiet m-no" onClick={onOnlyShown}>
          Only the {shown.length} shown
        </button>
      ) : null}
      <button type="button" className="held-line" onClick={() => setBulk('site')}>
        Move to a site
      </button>
      <button type="button" className="held-line" onClick={() => setBulk('backup')}>
        Back up
      </button>
      <AppLink className="held-line" href={`/run?${which}`}>
        Run command
      </AppLink>
      <AppLink className="held-first" href={ids.length === 1 ? `/run?${which}&mode=script` : `/campaigns/new?${which}`}>
        Run script
      </AppLink>
      <button type="button" className="held-quiet" onClick={onClear}>
        Clear
      </button>
      {bulk ? <BulkDialog kind={bulk} ids={ids} onClose={() => setBulk(undefined)} /> : null}
    </div>
  );
}
