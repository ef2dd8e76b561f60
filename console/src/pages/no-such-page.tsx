import { Link } from '@tanstack/react-router';

export function NoSuchPage() {
  return (
    <div className="head">
      <div>
        <h1>There is no such page</h1>
        <p>
          The address may be mistyped, or what it named was removed.{' '}
          <Link to="/routers" search={{}} className="hand under">
            All routers
          </Link>
        </p>
      </div>
    </div>
  );
}
