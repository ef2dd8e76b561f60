import { Link } from '@tanstack/react-router';
import { RouterLink } from '../../../parts/router-link.tsx';
import { words } from './words.ts';

/** The way back from a page below. */
export function BackupsCrumb({ routerId }: { routerId: string }) {
  return (
    <>
      <RouterLink id={routerId} className="hand id" /> /{' '}
      <Link to="/routers/$routerId/backups" params={{ routerId }} className="hand" activeOptions={{ exact: true }}>
        {words.backups}
      </Link>
    </>
  );
}
