import { Link } from '@tanstack/react-router';
import { RouterCrumb } from '../../fleet/router/router-crumb.tsx';
import { words } from './words.ts';

/** The way back from a page below. */
export function BackupsCrumb({ routerId }: { routerId: string }) {
  return (
    <>
      <RouterCrumb id={routerId} /> /{' '}
      <Link to="/routers/$routerId/backups" params={{ routerId }} className="hand" activeOptions={{ exact: true }}>
        {words.backups}
      </Link>
    </>
  );
}
