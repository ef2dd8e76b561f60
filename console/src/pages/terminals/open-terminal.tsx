import type { TerminalWithTicket } from '../../../../client/browser.ts';
import { AppLink } from '../../parts/app-link.tsx';
import { Dialog } from '../../parts/dialog.tsx';
import { Moment } from '../../parts/moment.tsx';
import { Screen } from './screen.tsx';
import { useEnd } from './use-end.tsx';
import { useTerminal } from './use-terminal.ts';
import type { Phase } from './use-terminal.ts';

interface Props {
  identity: string;
  opened: TerminalWithTicket;
  onAgain: () => void;
}

/** One attached terminal: a banner that says that it is recorded, the screen, and what is wrong if something is. */
export function OpenTerminal({ identity, opened, onAgain }: Props) {
  const { phase, lines, paste, dropLines, onMessage, speaker, leave, attachHere } = useTerminal(opened);
  const { end, isSending, outcome } = useEnd();
  const isOver = phase.kind === 'ended';
  return (
    <div className="terminal-page">
      <h1 className="sr">Terminal on {identity}</h1>
      <div className="terminal-banner" role="note">
        <span className="terminal-recorded">Recorded</span>
        <span>
          <AppLink href={`/routers/${opened.router_id}`}>
            <b>{identity}</b>
          </AppLink>
          , level {opened.level}, since <Moment at={opened.created_at} />: {opened.reason}
        </span>
        <span className="terminal-acts">
          {isOver ? (
            <button type="button" className="btn sm" onClick={onAgain}>
              Open another
            </button>
          ) : (
            <button
              ref={leave}
              type="button"
              className="btn sm"
              title="Ctrl+F6 brings the keyboard here"
              disabled={isSending}
              onClick={() => end(opened)}
            >
              End the terminal
            </button>
          )}
        </span>
      </div>
      {outcome}
      <p className="terminal-phase" role="status">
        {wordsOf(phase)}
        {phase.kind === 'elsewhere' ? (
          <button type="button" className="btn quiet sm" onClick={attachHere}>
            Attach here
          </button>
        ) : null}
      </p>
      <Screen title={`Terminal of ${identity}. Ctrl+F6 leaves it.`} onMessage={onMessage} speaker={speaker} />
      {lines === undefined ? null : <Lines text={lines} onPaste={paste} onClose={dropLines} />}
    </div>
  );
}

function wordsOf(phase: Phase): string {
  switch (phase.kind) {
    case 'connecting':
      return 'Connecting';
    case 'open':
      return '';
    case 'away':
      return 'The agent is away. The shell waits for it, five minutes at most.';
    case 'lost':
      return 'The connection is lost. Trying again; no output is lost.';
    case 'elsewhere':
      return 'This terminal is attached in another window. ';
    case 'ended':
      return `The terminal has ended${phase.message === '' ? '' : `: ${phase.message}`}.`;
  }
}

/** Several lines would run one after the other: they are shown first. */
function Lines({ text, onPaste, onClose }: { text: string; onPaste: () => void; onClose: () => void }) {
  const lines = text.replace(/\r?\n$/, '').split(/\r?\n/);
  const count = `${lines.length} line${lines.length === 1 ? '' : 's'}`;
  return (
    <Dialog title={`Paste ${count}?`} onClose={onClose}>
      <p>The router runs each line as soon as its end arrives.</p>
      <pre className="terminal-lines">{lines.join('\n')}</pre>
      <div className="acts">
        <button type="button" className="btn" onClick={onClose}>
          Cancel
        </button>
        <button type="button" className="btn main-act" onClick={onPaste}>
          Paste {count}
        </button>
      </div>
    </Dialog>
  );
}
