import type { Work } from './work.ts';
import { words } from './words.ts';

interface Look {
  className: string;
  shape: React.ReactNode;
}

const ring = <circle cx="8" cy="8" r="4.9" fill="none" stroke="currentColor" strokeWidth="1.8" />;
const hourglass = 'M3.5 2.5h9M3.5 13.5h9M4.5 2.5c0 3 7 8 7 11M11.5 2.5c0 3-7 8-7 11';

/** Each has a shape of its own, so that it is told without colour. Unknown is loud by its shape and claims nothing. */
const LOOKS: Record<Work, Look> = {
  waiting: { className: 'c-never', shape: <circle cx="8" cy="8" r="2.1" fill="currentColor" /> },
  running: {
    className: 'c-unknown',
    shape: (
      <>
        {ring}
        <path d="M8 3.1a4.9 4.9 0 0 1 0 9.8z" fill="currentColor" />
      </>
    ),
  },
  armed: { className: 'c-unknown', shape: <path d={hourglass} fill="none" stroke="currentColor" strokeWidth="1.7" /> },
  done: { className: 'c-answering', shape: <circle cx="8" cy="8" r="5.5" fill="currentColor" /> },
  failed: { className: 'c-not', shape: <path d="M2.5 2.5h11v11h-11z" fill="currentColor" /> },
  rolled_back: {
    className: 'c-away',
    shape: <path d="M3 6h6.2a3.4 3.4 0 0 1 0 6.8H5.5M6 2.8 2.8 6 6 9.2" fill="none" stroke="currentColor" strokeWidth="1.9" />,
  },
  unknown: { className: 'c-unknown', shape: <path d="M8 2.2 14.4 13.4H1.6z" fill="none" stroke="currentColor" strokeWidth="1.8" /> },
  expired: { className: 'c-never', shape: ring },
  canceled: { className: 'c-never', shape: ring },
  skipped: { className: 'c-never', shape: ring },
};

export function workWord(work: Work): string {
  return words.work[work];
}

export function workClass(work: Work): string {
  return LOOKS[work].className;
}

/** The lamp alone; a word must stand beside it. */
export function WorkLamp({ work, size = 12 }: { work: Work; size?: number }) {
  const { className, shape } = LOOKS[work];
  return (
    <svg className={className} width={size} height={size} viewBox="0 0 16 16" aria-hidden="true">
      {shape}
    </svg>
  );
}

/** Lamp and word, and in a few words why. */
export function WorkState({ work, why }: { work: Work; why?: string | undefined }) {
  const { className } = LOOKS[work];
  return (
    <span className="lamp">
      <WorkLamp work={work} />
      <span className="el">
        {/* What went as wished stays quiet: only what needs somebody is coloured. */}
        <span className={work === 'done' ? 'dim' : `${className} b`}>{words.work[work]}</span>
        {why === undefined || why === '' ? null : <span className="dim">, {why}</span>}
      </span>
    </span>
  );
}
