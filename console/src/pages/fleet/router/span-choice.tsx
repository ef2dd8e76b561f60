import { useNavigate, useSearch } from '@tanstack/react-router';
import { SPANS } from '../../../data/use-router-story.ts';
import type { SpanName } from '../../../data/use-router-story.ts';
import { words } from './words.ts';

export function useSpan(): SpanName {
  return useSearch({ from: '/routers/$routerId' }).span ?? '24h';
}

/** How far back a router's pages look. It is in the address. */
export function SpanChoice() {
  const span = useSpan();
  const navigate = useNavigate();
  return (
    <span className="seg" role="group" aria-label={words.span.label}>
      {(Object.keys(SPANS) as SpanName[]).map((name) => (
        <button
          key={name}
          type="button"
          className={name === span ? 'on' : ''}
          aria-pressed={name === span}
          onClick={() => void navigate({ to: '.', search: (before) => ({ ...before, span: name }), state: true, replace: true })}
        >
          {words.span.names[name]}
        </button>
      ))}
    </span>
  );
}
