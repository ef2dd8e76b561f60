import { useState } from 'react';
import type { Input, OperationId } from '../../../client/browser.ts';
import { useWrite } from '../data/use-write.ts';
import type { Answered, Write } from '../data/use-write.ts';
import { Dialog } from './dialog.tsx';
import { Outcome, TextField } from './form.tsx';
import { words } from './words.ts';

interface Asked<Id extends OperationId> {
  /** The question, with the name or the count of what is meant. */
  title: string;
  /** What happens, in words. */
  children: React.ReactNode;
  /** What the button says: the deed, not "OK". */
  action: string;
  /** What the button says that does nothing, where "Cancel" could be taken for the deed. */
  keep?: string;
  /** It takes nothing away: the button is not red. */
  isHarmless?: boolean;
  /** For what cannot be taken back: the person types this first. */
  typed?: string;
  input: Input<Id>;
  onClose: () => void;
  onDone?: (result: Answered<Id>) => void;
}

interface Props<Id extends OperationId> extends Asked<Id> {
  operation: Id;
  /** First parts of the keys of queries that it changes. */
  stale: readonly string[];
  /** Whether `onDone` leaves the page, whose record is gone then. */
  leaves?: boolean;
}

/** Asks before something is done that cannot simply be taken back. */
export function Confirm<Id extends OperationId>({ operation, stale, leaves = false, ...asked }: Props<Id>) {
  return <ConfirmWrite {...asked} write={useWrite(operation, stale, leaves)} />;
}

/**
 * Asks before the page's own write is sent. The write outlives the question: when an answer was lost and the person asks once more, the same
 * input is sent with the same Idempotency-Key.
 */
export function ConfirmWrite<Id extends OperationId>(props: Asked<Id> & { write: Write<Id> }) {
  const { title, children, action, keep = words.cancel, isHarmless = false, typed, input, write, onClose, onDone } = props;
  const [said, setSaid] = useState('');
  async function answered(result: Promise<Answered<Id> | undefined>): Promise<void> {
    const done = await result;
    if (done === undefined) return;
    onDone?.(done);
    onClose();
  }
  return (
    <Dialog title={title} onClose={onClose}>
      <form
        onSubmit={(event) => {
          event.preventDefault();
          void answered(write.send(input));
        }}
      >
        <div className="prose">{children}</div>
        {typed === undefined ? null : <TextField label={words.confirmTyped(typed)} name="typed" value={said} onChange={setSaid} />}
        <Outcome state={write.state} onLookAgain={() => void answered(write.lookAgain())} />
        <div className="form-acts">
          <button type="button" className="btn" onClick={onClose}>
            {keep}
          </button>
          <button
            type="submit"
            className={isHarmless ? 'btn main-act' : 'btn danger'}
            disabled={write.state.kind === 'sending' || (typed !== undefined && said !== typed)}
          >
            {action}
          </button>
        </div>
      </form>
    </Dialog>
  );
}
