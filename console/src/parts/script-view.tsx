import { words } from './words.ts';

interface Props {
  script: string;
  /** Numbers of lines to look at twice, from 1. */
  risky: ReadonlySet<number>;
}

/** A script with its line numbers. Text from people and routers is only ever text. */
export function ScriptView({ script, risky }: Props) {
  return (
    // oxlint-disable-next-line jsx-a11y/no-noninteractive-tabindex -- a scrollable region must be reachable by keyboard
    <div className="code" role="group" aria-label={words.script} tabIndex={0}>
      {script.split('\n').map((line, index) => {
        const number = index + 1;
        const isRisky = risky.has(number);
        return (
          // Lines have no other name than their number.
          // oxlint-disable-next-line react/no-array-index-key
          <div key={number} className={isRisky ? 'gd' : undefined}>
            <span className="ln">{number}</span>
            <span className="g">{isRisky ? '!' : ''}</span>
            <code className={line.trimStart().startsWith('#') ? 'cm' : undefined}>{line}</code>
          </div>
        );
      })}
    </div>
  );
}
