import { Lamp } from '../../../parts/lamp.tsx';

/** How many of a site's routers answer, in words. */
export function Share({ routers, answering }: { routers: number; answering: number }) {
  if (routers === 0) return <span className="dim">no routers</span>;
  const isSound = answering === routers;
  return (
    <span className="lamp">
      <Lamp state={isSound ? 'answering' : 'not_answering'} />
      <span className={isSound ? 'dim' : 'c-not b'}>
        {isSound ? (routers === 1 ? 'its router answers' : `all ${routers} answer`) : `${answering} of ${routers} answer`}
      </span>
    </span>
  );
}
