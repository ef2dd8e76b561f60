import { Link } from '@tanstack/react-router';
import type { LinkProps } from '@tanstack/react-router';
import { AppLink } from './app-link.tsx';
import { useCurrentInSight } from './use-current-in-sight.ts';

export interface Tab {
  name: string;
  /** An address made from data is a path. */
  link: LinkProps | string;
  count?: number;
}

/** The parts of one record: links, so that each has an address. */
export function Tabs({ label, tabs }: { label: string; tabs: readonly Tab[] }) {
  const links = useCurrentInSight();
  return (
    <nav className="tabs" aria-label={label} ref={links}>
      {tabs.map(({ name, link, count }) =>
        typeof link === 'string' ? (
          <AppLink key={name} href={link}>
            {name}
          </AppLink>
        ) : (
          <Link key={name} {...link} activeOptions={{ exact: true, includeSearch: false }} activeProps={CURRENT}>
            {name} {count === undefined ? null : <span className="faint">{count}</span>}
          </Link>
        ),
      )}
    </nav>
  );
}

const CURRENT = { className: 'on', 'aria-current': 'page' } as const;
