import { useNavigate, useParams } from '@tanstack/react-router';
import { useState } from 'react';
import type { Backup } from '../../../../../client/browser.ts';
import { useRouterRecord } from '../../../data/use-fleet.ts';
import { useList } from '../../../data/use-list.ts';
import { useWrite } from '../../../data/use-write.ts';
import { Dialog } from '../../../parts/dialog.tsx';
import { CheckField, Outcome } from '../../../parts/form.tsx';
import { Moment } from '../../../parts/moment.tsx';
import { PageHead } from '../../../parts/page-head.tsx';
import { Reading, ReadingFailed } from '../../../parts/reading.tsx';
import { RouterLink } from '../../../parts/router-link.tsx';
import { Section } from '../../../parts/section.tsx';
import { WorkState } from '../../../parts/work-lamp.tsx';
import { useMay } from '../../../session/use-may.ts';
import { DownloadButton } from './download.tsx';
import { isComparable, originWords, pairOf, pickedPair } from './pair.ts';
import { Restore } from './restore.tsx';
import { Schedules } from './schedules.tsx';
import '../work.css';

const WORKS = { pending: 'waiting', stored: 'done', lost: 'failed' } as const;
const SAID = { pending: 'still on the router', stored: '', lost: 'could not be fetched' } as const;

/** The backups of one router: take one, compare any two, fetch the files, bring one back. */
export function BackupsPage() {
  const { routerId } = useParams({ from: '/routers/$routerId/backups' });
  const router = useRouterRecord(routerId);
  const [isTaking, setTaking] = useState(false);
  const mayTake = useMay('operator');
  return (
    <>
      <PageHead
        crumb={<RouterLink id={routerId} className="hand id" />}
        title="Backups"
        actions={
          mayTake ? (
            <button type="button" className="btn main-act" onClick={() => setTaking(true)}>
              Take one now
            </button>
          ) : null
        }
      />
      <div className="cols work-cols">
        <div>
          <Backups routerId={routerId} identity={router?.identity ?? 'router'} />
        </div>
        <div>
          <Schedules siteId={router?.site_id ?? null} />
          <Restore />
        </div>
      </div>
      {isTaking ? <TakeDialog routerId={routerId} onClose={() => setTaking(false)} /> : null}
    </>
  );
}

function Backups({ routerId, identity }: { routerId: string; identity: string }) {
  const { records, isFirst, error, hasMore, readMore } = useList('backups', 'listBackups', { path: { router_id: routerId } });
  const [picked, setPicked] = useState<readonly string[]>([]);
  const navigate = useNavigate();
  const mayRead = useMay('operator');
  if (error && records.length === 0) return <ReadingFailed error={error} what="Backups" />;
  if (isFirst) return <Reading />;
  const comparable = records.filter(isComparable);
  const pair = pickedPair(records, picked) ?? pickedPair(records, picked.length > 0 ? [] : comparable.slice(0, 2).map(({ id }) => id));
  return (
    <Section
      title="Taken"
      small={`${records.length}${hasMore ? '+' : ''}, newest first`}
      aside={
        comparable.length < 2 || !mayRead ? undefined : (
          <button
            type="button"
            className="btn sm"
            disabled={pair === undefined}
            onClick={() =>
              pair &&
              void navigate({ to: '/routers/$routerId/backups/$pair', params: { routerId, pair: pairOf(pair.from, pair.to) }, search: {} })
            }
          >
            {picked.length === 0 ? 'Compare the newest two' : pair === undefined ? 'Pick two to compare' : 'Compare these two'}
          </button>
        )
      }
    >
      {records.length === 0 ? (
        <div className="empty">
          <p>
            <b>No backup has been taken.</b> One is taken before a job that asks for it, on a schedule, or now.
          </p>
          {mayRead ? null : <p>People with the role operator take backups.</p>}
        </div>
      ) : null}
      {records.map((backup) => (
        <Taken
          key={backup.id}
          backup={backup}
          routerId={routerId}
          identity={identity}
          isPicked={picked.includes(backup.id)}
          onPick={(isPicked) => setPicked(isPicked ? [...picked, backup.id].slice(-2) : picked.filter((id) => id !== backup.id))}
        />
      ))}
      {hasMore ? (
        <button type="button" className="btn quiet" onClick={readMore}>
          Older ones
        </button>
      ) : null}
    </Section>
  );
}

interface TakenProps {
  backup: Backup;
  routerId: string;
  identity: string;
  isPicked: boolean;
  onPick: (isPicked: boolean) => void;
}

function Taken({ backup, routerId, identity, isPicked, onPick }: TakenProps) {
  const mayRead = useMay('operator');
  return (
    <div className="line backup">
      <input
        type="checkbox"
        aria-label={`Pick for a comparison: taken ${backup.created_at}`}
        className="pick"
        hidden={!mayRead}
        disabled={!isComparable(backup)}
        checked={isPicked}
        onChange={(event) => onPick(event.target.checked)}
      />
      <span className="el">
        <Moment at={backup.created_at} className="b" /> <span className="dim">{originWords(backup)}</span>
      </span>
      <span className="el">
        {backup.state === 'stored' && backup.error === null ? (
          <span className={backup.changed === true ? 'b' : 'dim'}>{changedWords(backup)}</span>
        ) : (
          <WorkState work={WORKS[backup.state]} why={backup.error ?? SAID[backup.state]} />
        )}
      </span>
      <span className="parts">
        {backup.parts.map((part) =>
          mayRead ? (
            <DownloadButton key={part.part} routerId={routerId} identity={identity} backup={backup} part={part} />
          ) : (
            <span key={part.part} className="dim">
              {part.part.replace('_', ' ')}
            </span>
          ),
        )}
      </span>
    </div>
  );
}

function changedWords({ changed }: Backup): string {
  if (changed === null) return 'stored';
  return changed ? 'changed since the one before' : 'same as the one before';
}

function TakeDialog({ routerId, onClose }: { routerId: string; onClose: () => void }) {
  const [isBinary, setBinary] = useState(true);
  const write = useWrite('takeBackup', ['backups']);
  async function answered(result: Promise<object | undefined>): Promise<void> {
    if (await result) onClose();
  }
  return (
    <Dialog title="Take a backup now" onClose={onClose}>
      <form
        onSubmit={(event) => {
          event.preventDefault();
          const parts: ('export' | 'binary')[] = isBinary ? ['binary', 'export'] : ['export'];
          void answered(write.send({ path: { router_id: routerId }, body: { parts } }));
        }}
      >
        <div className="prose">
          <p>The text export is read from the router and writes nothing on it. Two exports can be compared.</p>
          <p>The binary is a file on the router until it is stored here. It restores the whole router, on the same device.</p>
        </div>
        <CheckField label="With the binary" isChecked={isBinary} onChange={setBinary} />
        <Outcome state={write.state} onLookAgain={() => void answered(write.lookAgain())} />
        <div className="form-acts">
          <button type="button" className="btn" onClick={onClose}>
            Cancel
          </button>
          <button type="submit" className="btn main-act" disabled={write.state.kind === 'sending'}>
            Take it
          </button>
        </div>
      </form>
    </Dialog>
  );
}
