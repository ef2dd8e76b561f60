import type { Router } from '../../../../../client/browser.ts';
import { RouterLink } from '../../../parts/router-link.tsx';
import { words } from './words.ts';

interface Props {
  routers: readonly Router[];
  /** The count says how many there are. */
  most: number;
  /** Names only: in a question a link would leave it. */
  isPlain?: boolean;
  /** At the end of the line. */
  children?: React.ReactNode;
}

/** The routers that are meant, by name. */
export function RouterNames({ routers, most, isPlain = false, children }: Props) {
  return (
    <p className="chosen">
      {routers.length === 0 ? null : <span className="dim">{words.targets.runsOn}</span>}
      {routers.slice(0, most).map(({ id, identity }) => (isPlain ? <b key={id}>{identity}</b> : <RouterLink key={id} id={id} />))}
      {routers.length > most ? <span className="dim">{words.targets.more(routers.length - most)}</span> : null}
      {children}
    </p>
  );
}
