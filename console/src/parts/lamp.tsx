import type { Router } from '../../../client/browser.ts';
import { wordOf } from './state-words.ts';
import { words } from './words.ts';

export type RouterState = NonNullable<Router['state']>;

/** Each state has a shape of its own, so that it is told without colour. */
const SHAPES: Record<RouterState, { className: string; shape: React.ReactNode }> = {
  answering: { className: 'c-answering', shape: <circle cx="8" cy="8" r="5.5" fill="currentColor" /> },
  not_answering: { className: 'c-not', shape: <path d="M2.5 2.5h11v11h-11z" fill="currentColor" /> },
  agent_away: { className: 'c-away', shape: <path d="M8 1 15 8 8 15 1 8z" fill="currentColor" /> },
  never_seen: { className: 'c-never', shape: <circle cx="8" cy="8" r="4.9" fill="none" stroke="currentColor" strokeWidth="1.8" /> },
};

export function isRouterState(text: string): text is RouterState {
  return text in SHAPES;
}

/** In a box of 16 by 16. */
export function shapeOf(state: RouterState): React.ReactNode {
  return SHAPES[state].shape;
}

/** The class of its colour. */
export function colourOf(state: RouterState): string {
  return SHAPES[state].className;
}

/** The lamp alone; a word must stand beside it. */
export function Lamp({ state, size = 11 }: { state: RouterState; size?: number }) {
  const { className, shape } = SHAPES[state];
  return (
    <svg className={className} width={size} height={size} viewBox="0 0 16 16" aria-hidden="true">
      {shape}
    </svg>
  );
}

/** Lamp, word, and the reason for it. */
export function StateOf({ state, reason }: { state: RouterState | null; reason: string | null }) {
  if (state === null) return <span className="dim">{words.removed}</span>;
  const { className } = SHAPES[state];
  return (
    <span className="lamp">
      <Lamp state={state} />
      <span title={reason === null ? undefined : `${wordOf(state)}, ${wordOf(reason)}`}>
        <span className={state === 'answering' ? 'dim' : `${className} b`}>{wordOf(state)}</span>
        {reason === null ? null : <span className="dim">, {wordOf(reason)}</span>}
      </span>
    </span>
  );
}
