import { Link, useParams, useSearch } from '@tanstack/react-router';
import { useList } from '../../../data/use-list.ts';
import { useRecord } from '../../../data/use-record.ts';
import { CopyButton } from '../../../parts/copy.tsx';
import { fill } from '../../../parts/fill.tsx';
import { MissingRecord } from '../../../parts/missing.tsx';
import { PageHead } from '../../../parts/page-head.tsx';
import { Reading } from '../../../parts/reading.tsx';
import { Moment } from '../../../parts/moment.tsx';
import { sharedTimes } from '../../../parts/times.ts';
import { useMay } from '../../../session/use-may.ts';
import { BackupsCrumb } from './crumb.tsx';
import { DiffView } from './diff-view.tsx';
import { originWords, readPair } from './pair.ts';
import { words } from './words.ts';
import '../work.css';

/** The exports of two backups compared. The two are in the address. */
export function ComparePage() {
  const { routerId, pair } = useParams({ from: '/routers/$routerId/backups/$pair' });
  const ids = readPair(pair);
  const mayRead = useMay('operator');
  if (!ids) return <PageHead crumb={<BackupsCrumb routerId={routerId} />} title={words.compare.noPair} />;
  if (!mayRead) {
    return <PageHead crumb={<BackupsCrumb routerId={routerId} />} title={words.compare.title} sentence={words.compare.mayNot} />;
  }
  return <Compared routerId={routerId} from={ids.from} to={ids.to} />;
}

function Compared({ routerId, from, to }: { routerId: string; from: string; to: string }) {
  const { view } = useSearch({ from: '/routers/$routerId/backups/$pair' });
  const diff = useRecord('backups', 'compareBackups', { path: { router_id: routerId, backup_id: from, other_id: to } });
  const { records } = useList('backups', 'listBackups', { path: { router_id: routerId } });
  const shared = sharedTimes(records.filter(({ id }) => id === from || id === to).map(({ created_at: at }) => at));
  const name = (id: string): React.ReactNode => {
    const backup = records.find((one) => one.id === id);
    if (!backup) return <span className="id">{id.slice(-8)}</span>;
    return (
      <>
        <Moment at={backup.created_at} className="b" shared={shared} /> ({originWords(backup)})
      </>
    );
  };
  if (diff.error && !diff.data)
    return (
      <MissingRecord
        error={diff.error}
        what={words.compare.comparison}
        list={{ href: `/routers/${routerId}/backups`, name: words.backups }}
      />
    );
  return (
    <>
      <PageHead
        crumb={<BackupsCrumb routerId={routerId} />}
        title={words.compare.title}
        sentence={fill(words.compare.pair, { older: name(from), newer: name(to) })}
        actions={diff.data?.changed ? <CopyButton text={diff.data.diff} label={words.compare.copy} /> : null}
      />
      <nav className="tabs" aria-label={words.compare.view}>
        <Link to="." search={{}} className={view === undefined ? 'on' : ''} aria-current={view === undefined ? 'page' : undefined}>
          {words.compare.oneColumn}
        </Link>
        <Link
          to="."
          search={{ view: 'sides' }}
          className={view === 'sides' ? 'on' : ''}
          aria-current={view === 'sides' ? 'page' : undefined}
        >
          {words.compare.sides}
        </Link>
      </nav>
      {diff.data ? <DiffView diff={diff.data} isSideBySide={view === 'sides'} /> : <Reading />}
    </>
  );
}
