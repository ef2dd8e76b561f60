import type { TerminalWithTicket } from '../../../../client/browser.ts';
import { AppLink } from '../../parts/app-link.tsx';
import { Dialog } from '../../parts/dialog.tsx';
import { fill } from '../../parts/fill.tsx';
import { Moment } from '../../parts/moment.tsx';
import { useIsPhone } from '../../parts/use-is-phone.ts';
import { Screen } from './screen.tsx';
import { useEnd } from './use-end.tsx';
import { useTerminal } from './use-terminal.ts';
import type { Phase } from './use-terminal.ts';
import { words } from './words.ts';

interface Props {
  identity: string;
  opened: TerminalWithTicket;
  onAgain: () => void;
}

/** One attached terminal: a banner that says that it is recorded, the screen, and what is wrong if something is. */
export function OpenTerminal({ identity, opened, onAgain }: Props) {
  const { phase, lines, paste, dropLines, onMessage, speaker, leave, attachHere } = useTerminal(opened);
  const { end, isSending, outcome } = useEnd();
  const isPhone = useIsPhone();
  const isOver = phase.kind === 'ended';
  return (
    <div className="terminal-page">
      <h1 className="sr">{words.attached.title(identity)}</h1>
      <div className="terminal-banner" role="note">
        <span className="terminal-recorded">{words.attached.recorded}</span>
        <span>
          {fill(words.attached.banner, {
            router: (
              <AppLink href={`/routers/${opened.router_id}`}>
                <b>{identity}</b>
              </AppLink>
            ),
            level: opened.level,
            time: <Moment at={opened.created_at} />,
            reason: opened.reason,
          })}
        </span>
        <span className="terminal-acts">
          {isOver ? (
            <button type="button" className="btn sm" onClick={onAgain}>
              {words.attached.another}
            </button>
          ) : (
            <button
              ref={leave}
              type="button"
              className="btn sm"
              title={words.attached.endHint}
              disabled={isSending}
              onClick={() => end(opened)}
            >
              {words.attached.end}
            </button>
          )}
        </span>
      </div>
      {outcome}
      <p className="terminal-phase" role="status">
        {wordsOf(phase)}
        {phase.kind === 'elsewhere' ? (
          <button type="button" className="btn quiet sm" onClick={attachHere}>
            {words.attached.attachHere}
          </button>
        ) : null}
      </p>
      <Screen title={words.attached.screen(identity)} onMessage={onMessage} speaker={speaker} />
      {isPhone && !isOver ? <Keys onKey={(text) => speaker.current?.({ kind: 'keys', text })} /> : null}
      {lines === undefined ? null : <Lines text={lines} onPaste={paste} onClose={dropLines} />}
    </div>
  );
}

function wordsOf(phase: Phase): string {
  switch (phase.kind) {
    case 'connecting':
      return words.phase.connecting;
    case 'open':
      return '';
    case 'away':
      return words.phase.away;
    case 'lost':
      return words.phase.lost;
    case 'elsewhere':
      return `${words.phase.elsewhere} `;
    case 'ended':
      return words.phase.ended(phase.message);
  }
}

/** What a person needs to complete a word, to stop a command that goes on, and to bring an earlier one back. */
function Keys({ onKey }: { onKey: (text: string) => void }) {
  return (
    <div className="terminal-keys" role="group" aria-label={words.keys.label}>
      {words.keys.list.map(([sign, name, text]) => (
        <button type="button" className="key" key={name} aria-label={name} onClick={() => onKey(text)}>
          {sign}
        </button>
      ))}
    </div>
  );
}

/** Several lines would run one after the other: they are shown first. */
function Lines({ text, onPaste, onClose }: { text: string; onPaste: () => void; onClose: () => void }) {
  const lines = text.replace(/\r?\n$/, '').split(/\r?\n/);
  return (
    <Dialog title={words.paste.title(lines.length)} onClose={onClose}>
      <p>{words.paste.what}</p>
      <pre className="terminal-lines">{lines.join('\n')}</pre>
      <div className="acts">
        <button type="button" className="btn" onClick={onClose}>
          {words.paste.cancel}
        </button>
        <button type="button" className="btn main-act" onClick={onPaste}>
          {words.paste.paste(lines.length)}
        </button>
      </div>
    </Dialog>
  );
}
