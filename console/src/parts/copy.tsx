import { useState } from 'react';

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

/** @param label what is copied, for readers: `the command` */
export function CopyButton({ text, label }: { text: string; label: string }) {
  const [said, setSaid] = useState<'Copied' | 'Not copied'>();
  async function copy(): Promise<void> {
    try {
      await navigator.clipboard.writeText(text);
      setSaid('Copied');
    } catch {
      // The browser may ask the person, who may refuse.
      setSaid('Not copied');
    }
  }
  return (
    <button type="button" className="btn quiet sm" onClick={() => void copy()}>
      <span role="status">{said ?? 'Copy'}</span>
      <span className="sr"> {label}</span>
    </button>
  );
}
