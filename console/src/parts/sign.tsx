import type { HistoryItem } from '../../../client/browser.ts';

type Kind = HistoryItem['kind'] | 'fault_resolved';

/** Small drawings of what happened; a word must stand beside each. */
const SHAPES: Record<Kind, React.ReactNode> = {
  forward: <path d="M2 8h11M9 3.8 13.2 8 9 12.2" fill="none" stroke="currentColor" strokeWidth="1.8" />,
  terminal: <path d="M2 2.8h12v10.4H2zM4.4 5.8 6.8 8l-2.4 2.2M8 10.4h3.4" fill="none" stroke="currentColor" strokeWidth="1.5" />,
  job: <path d="M3.5 3 12.5 8l-9 5z" fill="currentColor" />,
  backup: <path d="M2.5 5.5h11v8h-11zM2.5 5.5 4.5 2.5h7l2 3M6 8.7h4" fill="none" stroke="currentColor" strokeWidth="1.6" />,
  session: <path d="M1.5 8h4M10.5 8h4M5.5 3.5v9M10.5 3.5v9" fill="none" stroke="currentColor" strokeWidth="1.7" />,
  fault: <path d="M2.5 2.5h11v11h-11z" fill="currentColor" />,
  fault_resolved: <path d="M3 3h10v10H3z" fill="none" stroke="currentColor" strokeWidth="1.8" />,
  state: <circle cx="8" cy="8" r="4.9" fill="none" stroke="currentColor" strokeWidth="1.8" />,
  action: <circle cx="8" cy="8" r="2.1" fill="currentColor" />,
  unknown: <circle cx="8" cy="8" r="4.9" fill="none" stroke="currentColor" strokeWidth="1.8" strokeDasharray="2.6 2.5" />,
};

export function Sign({ kind }: { kind: Kind }) {
  return (
    <svg className={kind === 'fault' ? 'c-not' : 'dim'} width="12" height="12" viewBox="0 0 16 16" aria-hidden="true">
      {SHAPES[kind]}
    </svg>
  );
}
