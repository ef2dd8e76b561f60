import type { Router } from '../../../../../client/browser.ts';
import { Dialog } from '../../../parts/dialog.tsx';
import type { Caution } from './caution.ts';
import { deedAction, deedDoes, deedQuestion } from './deed-words.ts';
import { RouterNames } from './router-names.tsx';
import { words } from './words.ts';

interface Props {
  line: string;
  caution: Caution;
  /** Those that the question names, and no others, whatever the filter finds meanwhile. */
  routers: readonly Router[];
  onClose: () => void;
  onRun: () => void;
}

/** Read in a question; the count says how many there are. */
const NAMED = 10;

/** Asks before a command that takes routers away, or what they hold: it names each router that is meant. */
export function AskFirst({ line, caution: { touches, deeds }, routers, onClose, onRun }: Props) {
  return (
    <Dialog title={deedQuestion(deeds, routers.length, routers[0]?.identity)} onClose={onClose}>
      <form
        onSubmit={(event) => {
          event.preventDefault();
          onRun();
          onClose();
        }}
      >
        <div className="prose">
          <p className="mono asked-line">{line}</p>
          {deeds.map((deed) => (
            <p key={deed}>{deedDoes(deed)}</p>
          ))}
          {touches.length > 0 && deeds.length === 0 ? <p>{words.command.changes(touches)}.</p> : null}
          <RouterNames routers={routers} most={NAMED} isPlain />
        </div>
        <div className="form-acts">
          <button type="button" className="btn" onClick={onClose}>
            {words.command.cancel}
          </button>
          <button type="submit" className="btn danger">
            {deedAction(deeds, routers.length)}
          </button>
        </div>
      </form>
    </Dialog>
  );
}
