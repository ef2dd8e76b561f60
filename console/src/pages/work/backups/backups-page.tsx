import { useNavigate, useParams } from '@tanstack/react-router';
import { useState } from 'react';
import type { Backup } from '../../../../../client/browser.ts';
import { useList } from '../../../data/use-list.ts';
import { useWrite } from '../../../data/use-write.ts';
import { Dialog } from '../../../parts/dialog.tsx';
import { CheckField, Outcome } from '../../../parts/form.tsx';
import { MissingRecord } from '../../../parts/missing.tsx';
import { Moment } from '../../../parts/moment.tsx';
import { PageHead } from '../../../parts/page-head.tsx';
import { Reading, ReadingFailed } from '../../../parts/reading.tsx';
import { Section } from '../../../parts/section.tsx';
import { exactTime, sharedTimes } from '../../../parts/times.ts';
import { WorkState } from '../../../parts/work-lamp.tsx';
import { useMay } from '../../../session/use-may.ts';
import { RouterCrumb } from '../../fleet/router/router-crumb.tsx';
import { RouterSentence, RouterTabs, useRouter } from '../../fleet/router/router-page.tsx';
import { DownloadButton } from './download.tsx';
import { isComparable, originWords, pairOf, pickedPair } from './pair.ts';
import { Restore } from './restore.tsx';
import { Schedules } from './schedules.tsx';
import { words } from './words.ts';
import '../work.css';

const WORKS = { pending: 'waiting', stored: 'done', lost: 'failed' } as const;

/** The backups of one router: take one, compare any two, fetch the files, bring one back. */
export function BackupsPage() {
  const { routerId } = useParams({ from: '/routers/$routerId/backups' });
  const { router, error } = useRouter(routerId);
  const [isTaking, setTaking] = useState(false);
  const mayTake = useMay('operator');
  if (!router)
    return error ? <MissingRecord error={error} what={words.router} list={{ href: '/routers', name: words.routers }} /> : <Reading />;
  return (
    <>
      <PageHead
        crumb={<RouterCrumb id={routerId} />}
        title={words.backups}
        sentence={<RouterSentence router={router} />}
        actions={
          mayTake ? (
            <button type="button" className="btn main-act" onClick={() => setTaking(true)}>
              {words.take}
            </button>
          ) : null
        }
      />
      <RouterTabs routerId={routerId} />
      <div className="cols work-cols">
        <div>
          <Backups routerId={routerId} identity={router.identity} />
        </div>
        <div>
          <Schedules siteId={router.site_id} />
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
  if (error && records.length === 0) return <ReadingFailed error={error} what={words.backups} />;
  if (isFirst) return <Reading />;
  const comparable = records.filter(isComparable);
  const shared = sharedTimes(records.map(({ created_at: at }) => at));
  const pair = pickedPair(records, picked) ?? pickedPair(records, picked.length > 0 ? [] : comparable.slice(0, 2).map(({ id }) => id));
  return (
    <Section
      title={words.list.title}
      small={words.list.count(records.length, hasMore)}
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
            {picked.length === 0 ? words.list.compareNewest : pair === undefined ? words.list.pickTwo : words.list.compare}
          </button>
        )
      }
    >
      {records.length === 0 ? (
        <div className="empty">
          <p>
            <b>{words.list.empty}</b> {words.list.emptyHint}
          </p>
          {mayRead ? null : <p>{words.list.mayNot}</p>}
        </div>
      ) : null}
      {records.map((backup) => (
        <Taken
          key={backup.id}
          backup={backup}
          routerId={routerId}
          identity={identity}
          shared={shared}
          isOldest={!hasMore && backup === records.at(-1)}
          isPicked={picked.includes(backup.id)}
          onPick={(isPicked) => setPicked(isPicked ? [...picked, backup.id].slice(-2) : picked.filter((id) => id !== backup.id))}
        />
      ))}
      {hasMore ? (
        <button type="button" className="btn quiet" onClick={readMore}>
          {words.list.older}
        </button>
      ) : null}
    </Section>
  );
}

interface TakenProps {
  backup: Backup;
  routerId: string;
  identity: string;
  /** Short times that several of the list have. */
  shared: ReadonlySet<string>;
  /** Of all that are kept. */
  isOldest: boolean;
  isPicked: boolean;
  onPick: (isPicked: boolean) => void;
}

function Taken({ backup, routerId, identity, shared, isOldest, isPicked, onPick }: TakenProps) {
  const mayRead = useMay('operator');
  return (
    <div className="line backup">
      <input
        type="checkbox"
        aria-label={words.list.pick(exactTime(backup.created_at))}
        className="pick"
        hidden={!mayRead}
        disabled={!isComparable(backup)}
        checked={isPicked}
        onChange={(event) => onPick(event.target.checked)}
      />
      <span className="el">
        <Moment at={backup.created_at} className="b" shared={shared} /> <span className="dim">{originWords(backup)}</span>
      </span>
      <span className="el">
        {backup.state === 'stored' && backup.error === null ? (
          <span className={backup.changed === true ? 'b' : 'dim'}>{changedWords(backup, isOldest)}</span>
        ) : (
          <WorkState work={WORKS[backup.state]} why={backup.error ?? words.state[backup.state]} />
        )}
      </span>
      <span className="parts">
        {backup.parts.map((part) =>
          mayRead ? (
            <DownloadButton key={part.part} routerId={routerId} identity={identity} backup={backup} part={part} />
          ) : (
            <span key={part.part} className="dim">
              {words.files[part.part]}
            </span>
          ),
        )}
      </span>
    </div>
  );
}

/** There may have been older ones, which are not kept any more; there may have been none. */
function changedWords({ changed }: Backup, isOldest: boolean): string {
  if (changed === true) return words.change.changed;
  if (isOldest) return words.change.oldest;
  return changed === null ? words.change.unknown : words.change.same;
}

function TakeDialog({ routerId, onClose }: { routerId: string; onClose: () => void }) {
  const [isBinary, setBinary] = useState(true);
  const write = useWrite('takeBackup', ['backups']);
  async function answered(result: Promise<object | undefined>): Promise<void> {
    if (await result) onClose();
  }
  return (
    <Dialog title={words.dialog.title} onClose={onClose}>
      <form
        onSubmit={(event) => {
          event.preventDefault();
          const parts: ('export' | 'binary')[] = isBinary ? ['binary', 'export'] : ['export'];
          void answered(write.send({ path: { router_id: routerId }, body: { parts } }));
        }}
      >
        <div className="prose">
          <p>{words.dialog.export}</p>
          <p>{words.dialog.binary}</p>
        </div>
        <CheckField label={words.dialog.withBinary} isChecked={isBinary} onChange={setBinary} />
        <Outcome state={write.state} onLookAgain={() => void answered(write.lookAgain())} />
        <div className="form-acts">
          <button type="button" className="btn" onClick={onClose}>
            {words.dialog.cancel}
          </button>
          <button type="submit" className="btn main-act" disabled={write.state.kind === 'sending'}>
            {words.dialog.take}
          </button>
        </div>
      </form>
    </Dialog>
  );
}
