import { Link } from '@tanstack/react-router';
import { useRouterRecord } from '../data/use-fleet.ts';
import { words } from './words.ts';

/** A router by its name, which leads to its page. One that was removed has only its id here. */
export function RouterLink({ id, className = 'id b' }: { id: string; className?: string }) {
  const router = useRouterRecord(id);
  return (
    <Link to="/routers/$routerId" params={{ routerId: id }} className={className} activeOptions={{ exact: true }}>
      {router?.identity ?? words.removedRouter(id.slice(-8))}
    </Link>
  );
}
