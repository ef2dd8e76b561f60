import './copy-block.css';
import { CopyButton } from './copy.tsx';

interface Props {
  text: string;
  /** What the lines are, for readers. */
  label: string;
  /** What is copied, for readers: `the lines`. */
  copied: string;
  /** Shown above the text and not copied: the file it belongs into. */
  title?: string;
  /** Copying is the page's main action. */
  isMain?: boolean;
}

/** Lines to be copied as a whole. */
export function CopyBlock({ text, label, copied, title, isMain = false }: Props) {
  return (
    <div className="lines">
      <pre aria-label={label}>{title === undefined ? text : `${title}\n${text}`}</pre>
      <CopyButton text={text} label={copied} isMain={isMain} />
    </div>
  );
}
