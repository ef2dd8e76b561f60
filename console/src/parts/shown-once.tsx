import './shown-once.css';
import { useEffect, useRef } from 'react';
import { CopyLine } from './copy.tsx';
import { words } from './words.ts';

interface Props {
  /** What it is and for whom: `Key of billing`. */
  title: string;
  /** The secret itself. */
  text: string;
  /** What is copied, for readers: `the key`. */
  label: string;
  /** How it is used. */
  example?: { title: string; text: string; label: string };
  /** What to do with it, and what to do when it is lost. */
  children: React.ReactNode;
  onDone: () => void;
}

/** A secret in the one answer that holds it. It stays until the person says so, or leaves the page. */
export function ShownOnce({ title, text, label, example, children, onDone }: Props) {
  const place = useRef<HTMLElement>(null);
  useEffect(() => place.current?.focus(), [text]);
  return (
    <section className="once" aria-label={title} ref={place} tabIndex={-1}>
      <h2>{title}</h2>
      <CopyLine text={text} label={label} />
      <p className="dim">{children}</p>
      {example === undefined ? null : (
        <>
          <p className="t2 dim">{example.title}</p>
          <CopyLine text={example.text} label={example.label} />
        </>
      )}
      <button type="button" className="btn" onClick={onDone}>
        {words.haveIt}
      </button>
    </section>
  );
}
