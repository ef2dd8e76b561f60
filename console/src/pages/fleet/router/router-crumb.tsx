import { Link } from '@tanstack/react-router';
import { RouterLink } from '../../../parts/router-link.tsx';
import { words } from './words.ts';

/** The way back from a part of a router that has a heading of its own, and from the pages below it. */
export function RouterCrumb({ id }: { id: string }) {
  return (
    <>
      <Link to="/routers" search={{}} className="hand" activeOptions={{ exact: true }}>
        {words.routers}
      </Link>{' '}
      / <RouterLink id={id} className="hand id" />
    </>
  );
}
