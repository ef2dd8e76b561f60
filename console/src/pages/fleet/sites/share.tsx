import { Lamp, colourOf } from '../../../parts/lamp.tsx';
import type { RouterState } from '../../../parts/lamp.tsx';
import { words } from './words.ts';

/** How many of a site's routers answer, in words, with the mark of the worst. */
export function Share({ routers, answering, worst }: { routers: number; answering: number; worst: RouterState }) {
  if (routers === 0) return <span className="dim">{words.share.none}</span>;
  const isSound = answering === routers;
  return (
    <span className="lamp">
      <Lamp state={worst} />
      <span className={isSound ? 'dim' : `${colourOf(worst)} b`}>
        {isSound ? words.share.all(routers) : words.share.some(answering, routers)}
      </span>
    </span>
  );
}
