import { useState } from 'react';
import { words } from './words.ts';

/** A line to be copied: a command, an address, a key. */
export function CopyLine({ text, label }: { text: string; label: string }) {
  return (
    <div className="copy-line">
      {/* oxlint-disable-next-line jsx-a11y/no-noninteractive-tabindex -- a long line scrolls, also by keyboard */}
      <code tabIndex={0}>{text}</code>
      <CopyButton text={text} label={label} />
    </div>
  );
}

interface CopyProps {
  text: string;
  /** What is copied, for readers: `the command`. */
  label: string;
  /** It is the page's main action. */
  isMain?: boolean;
  /** Everybody reads what is copied: nothing beside the button shows it. */
  isSaid?: boolean;
}

export function CopyButton({ text, label, isMain = false, isSaid = false }: CopyProps) {
  const [said, setSaid] = useState<'copied' | 'failed'>();
  async function copy(): Promise<void> {
    try {
      await navigator.clipboard.writeText(text);
      setSaid('copied');
    } catch {
      // The browser may ask the person, who may refuse.
      setSaid('failed');
    }
  }
  return (
    <button type="button" className={isMain ? 'btn main-act copy' : 'btn quiet sm copy'} onClick={() => void copy()}>
      {/* Not role=status: its text would be no part of the button's name. */}
      <span aria-live="polite">
        {words.copy[said ?? 'copy']}
        {isSaid ? ` ${label}` : ''}
      </span>
      {isSaid ? null : <span className="sr"> {label}</span>}
    </button>
  );
}
