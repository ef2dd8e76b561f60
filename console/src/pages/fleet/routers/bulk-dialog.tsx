import { useQueryClient } from '@tanstack/react-query';
import { useRef, useState } from 'react';
import { ConnectionError, ProblemError, randomKey } from '../../../../../client/browser.ts';
import { useFleet } from '../../../data/use-fleet.ts';
import { Dialog } from '../../../parts/dialog.tsx';
import { SelectField } from '../../../parts/form.tsx';
import { useSiteNames } from './use-filtered.ts';

interface Props {
  kind: 'site' | 'backup';
  ids: readonly string[];
  onClose: () => void;
}

const NO_SITE = 'none';

/** Does one thing with each of many routers, one after the other, and says with which it did not work. */
export function BulkDialog({ kind, ids, onClose }: Props) {
  const sites = useSiteNames();
  const [site, setSite] = useState(NO_SITE);
  const run = useBulk(kind);
  const many = ids.length === 1 ? 'the router' : `${ids.length} routers`;
  const title = kind === 'site' ? `Move ${many} to a site` : `Back up ${many}`;
  const options = [{ value: NO_SITE, name: 'No site' }, ...[...sites].map(([value, name]) => ({ value, name }))];
  const isRunning = run.state === 'running';
  return (
    <Dialog title={title} onClose={onClose}>
      {kind === 'site' ? (
        <SelectField label="Site" name="site_id" value={site} onChange={setSite} options={options} />
      ) : (
        <p className="prose">An export of each router is taken now and kept. Those that do not answer are told below.</p>
      )}
      {run.state === 'idle' ? null : (
        <p role="status">
          {run.done} of {ids.length} done{run.failed.length === 0 ? '' : `, ${run.failed.length} not`}.
        </p>
      )}
      <ul className="bulk-failed">
        {run.failed.map(({ name, reason }) => (
          <li key={name}>
            <b className="id">{name}</b>: {reason}
          </li>
        ))}
      </ul>
      <div className="form-acts">
        <button type="button" className="btn" onClick={isRunning ? run.stop : onClose}>
          {run.state === 'over' ? 'Close' : isRunning ? 'Stop' : 'Cancel'}
        </button>
        {run.state === 'over' ? null : (
          <button
            type="button"
            className="btn main-act"
            disabled={isRunning}
            onClick={() => void run.start(ids, site === NO_SITE ? null : site)}
          >
            {kind === 'site' ? `Move ${many}` : title}
          </button>
        )}
      </div>
    </Dialog>
  );
}

interface Failed {
  name: string;
  reason: string;
}

function useBulk(kind: Props['kind']) {
  const { api, routers } = useFleet();
  const queries = useQueryClient();
  const [state, setState] = useState<'idle' | 'running' | 'over'>('idle');
  const [done, setDone] = useState(0);
  const [failed, setFailed] = useState<readonly Failed[]>([]);
  const isStopped = useRef(false);

  async function one(id: string, siteId: string | null): Promise<void> {
    const options = { idempotencyKey: randomKey() };
    const path = { router_id: id };
    if (kind === 'site') await api.call('changeRouter', { path, body: { site_id: siteId } }, options);
    else await api.call('takeBackup', { path, body: { parts: ['export'] } }, options);
  }

  async function start(ids: readonly string[], siteId: string | null): Promise<void> {
    setState('running');
    for (const id of ids) {
      if (isStopped.current) break;
      try {
        await one(id, siteId);
        setDone((count) => count + 1);
        if (kind === 'site') routers.amend(id, { site_id: siteId });
      } catch (error) {
        const name = routers.get(id)?.identity ?? id;
        setFailed((all) => [...all, { name, reason: reasonOf(error) }]);
      }
    }
    setState('over');
    await queries.invalidateQueries({ predicate: ({ queryKey }) => ['router', 'backups', 'sites'].includes(String(queryKey[0])) });
  }

  return { state, done, failed, start, stop: () => (isStopped.current = true) };
}

function reasonOf(error: unknown): string {
  if (error instanceof ProblemError) return error.message;
  if (error instanceof ConnectionError)
    return error.maybeDone ? 'may have been done: the answer was lost' : 'the control plane does not answer';
  return String(error);
}
