import { useQueryClient } from '@tanstack/react-query';
import { useEffect, useRef, useState } from 'react';
import { ProblemError, randomKey } from '../../../../../client/browser.ts';
import { isLost } from '../../../data/lost-answer.ts';
import { useFleet } from '../../../data/use-fleet.ts';
import { Dialog } from '../../../parts/dialog.tsx';
import { fill } from '../../../parts/fill.tsx';
import { SelectField } from '../../../parts/form.tsx';
import { numberWords } from '../../../parts/sizes.ts';
import { useSiteNames } from './use-filtered.ts';
import { words } from './words.ts';

export type BulkKind = 'site' | 'backup';

interface Props {
  kind: BulkKind;
  /** Fixed when the dialog opens. */
  ids: readonly string[];
  onClose: () => void;
}

const NO_SITE = 'none';
/** Named one by one before anything is sent. */
const NAMED = 6;

/** Does one thing with each of many routers, one after the other, and says with which it did not work. */
export function BulkDialog({ kind, ids, onClose }: Props) {
  const sites = useSiteNames();
  const [site, setSite] = useState(NO_SITE);
  const run = useBulk(kind, site === NO_SITE ? null : site);
  const title = kind === 'site' ? words.bulk.moveTitle(ids.length) : words.bulk.backUp(ids.length);
  const options = [{ value: NO_SITE, name: words.bulk.noSite }, ...[...sites].map(([value, name]) => ({ value, name }))];
  const isRunning = run.state === 'running';
  return (
    // Esc while it runs stops it, and the dialog stays to say how far it came.
    <Dialog title={title} onClose={isRunning ? run.stop : onClose}>
      <Meant ids={ids} />
      {kind === 'site' ? (
        <SelectField label={words.bulk.site} name="site_id" value={site} onChange={setSite} options={options} />
      ) : (
        <p className="prose">{words.bulk.backUpWhat}</p>
      )}
      {run.state === 'idle' ? null : <p role="status">{words.bulk.progress(run.done, ids.length, run.failed.length)}</p>}
      <ul className="bulk-failed">
        {run.failed.map(({ id, name, reason, lostKey }) => (
          <li key={id}>
            <b className="id">{name}</b>: {reason}{' '}
            {lostKey === undefined ? null : (
              <button type="button" className="btn quiet sm" disabled={isRunning} onClick={() => void run.lookAgain(id, lostKey)}>
                {words.bulk.lookAgain}
              </button>
            )}
          </li>
        ))}
      </ul>
      <div className="form-acts">
        <button type="button" className="btn" onClick={isRunning ? run.stop : onClose}>
          {run.state === 'over' ? words.bulk.close : isRunning ? words.bulk.stop : words.bulk.cancel}
        </button>
        {run.state === 'over' ? null : (
          <button type="button" className="btn main-act" disabled={isRunning} onClick={() => void run.start(ids)}>
            {kind === 'site' ? words.bulk.move(ids.length) : title}
          </button>
        )}
      </div>
    </Dialog>
  );
}

/** Which routers these are, for a last look before it is sent. */
function Meant({ ids }: { ids: readonly string[] }) {
  const { routers } = useFleet();
  const names = ids.slice(0, NAMED).map((id) => routers.get(id)?.identity ?? id);
  const answering = ids.filter((id) => routers.get(id)?.state === 'answering').length;
  return (
    <p className="bulk-meant">
      {fill(ids.length > NAMED ? words.bulk.meantMore : words.bulk.meant, {
        names: <b className="id">{names.join(', ')}</b>,
        more: numberWords(ids.length - NAMED),
        answering: <span className="dim">{words.bulk.answering(answering, ids.length)}</span>,
      })}
    </p>
  );
}

interface Failed {
  id: string;
  name: string;
  reason: string;
  /** Of a request whose answer was lost. Sending it again with this key does nothing twice. */
  lostKey: string | undefined;
}

function useBulk(kind: BulkKind, siteId: string | null) {
  const { api, routers } = useFleet();
  const queries = useQueryClient();
  const [state, setState] = useState<'idle' | 'running' | 'over'>('idle');
  const [done, setDone] = useState(0);
  const [failed, setFailed] = useState<readonly Failed[]>([]);
  const isStopped = useRef(false);
  // Who leaves the page sees no result any more: what was not sent yet is not sent.
  useEffect(() => {
    isStopped.current = false;
    return () => {
      isStopped.current = true;
    };
  }, []);

  async function one(id: string, idempotencyKey: string): Promise<void> {
    const path = { router_id: id };
    try {
      if (kind === 'site') await api.call('changeRouter', { path, body: { site_id: siteId } }, { idempotencyKey });
      else await api.call('takeBackup', { path, body: { parts: ['export'] } }, { idempotencyKey });
      setDone((count) => count + 1);
      if (kind === 'site') routers.amend(id, { site_id: siteId });
    } catch (error) {
      const name = routers.get(id)?.identity ?? id;
      setFailed((all) => [...all, { id, name, reason: reasonOf(error), lostKey: isLost(error) ? idempotencyKey : undefined }]);
    }
  }

  async function finish(): Promise<void> {
    setState('over');
    await queries.invalidateQueries({ predicate: ({ queryKey }) => ['router', 'backups', 'sites'].includes(String(queryKey[0])) });
  }

  async function start(ids: readonly string[]): Promise<void> {
    setState('running');
    for (const id of ids) {
      if (isStopped.current) break;
      await one(id, randomKey());
    }
    await finish();
  }

  async function lookAgain(id: string, key: string): Promise<void> {
    setState('running');
    setFailed((all) => all.filter((entry) => entry.id !== id));
    await one(id, key);
    await finish();
  }

  return { state, done, failed, start, lookAgain, stop: () => (isStopped.current = true) };
}

function reasonOf(error: unknown): string {
  if (isLost(error)) return words.bulk.maybeDone;
  return error instanceof ProblemError ? error.message : words.bulk.noAnswer;
}
