import { Link } from '@tanstack/react-router';
import { words } from './words.ts';

export function NoSuchPage() {
  return (
    <div className="head">
      <div>
        <h1>{words.noSuchPage}</h1>
        <p>
          {words.why}{' '}
          <Link to="/routers" search={{}} className="hand under">
            {words.allRouters}
          </Link>
        </p>
      </div>
    </div>
  );
}
