import { useState } from 'react';
import type { Input, OperationId } from '../../../client/browser.ts';
import { useWrite } from '../data/use-write.ts';
import type { Answered } from '../data/use-write.ts';
import { Dialog } from './dialog.tsx';
import { Outcome, TextField } from './form.tsx';

interface Props<Id extends OperationId> {
  /** The question, with the name or the count of what is meant. */
  title: string;
  /** What happens, in words. */
  children: React.ReactNode;
  /** What the button says: the deed, not "OK". */
  action: string;
  /** For what cannot be taken back: the person types this first. */
  typed?: string;
  operation: Id;
  input: Input<Id>;
  /** First parts of the keys of queries that it changes. */
  stale: readonly string[];
  onClose: () => void;
  onDone?: (result: Answered<Id>) => void;
}

/** Asks before something is done that cannot simply be taken back. */
export function Confirm<Id extends OperationId>({ title, children, action, typed, operation, input, stale, onClose, onDone }: Props<Id>) {
  const [said, setSaid] = useState('');
  const write = useWrite(operation, stale);
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
        {typed === undefined ? null : <TextField label={`Type ${typed} to confirm`} name="typed" value={said} onChange={setSaid} />}
        <Outcome state={write.state} onLookAgain={() => void answered(write.lookAgain())} />
        <div className="form-acts">
          <button type="button" className="btn" onClick={onClose}>
            Cancel
          </button>
          <button type="submit" className="btn danger" disabled={write.state.kind === 'sending' || (typed !== undefined && said !== typed)}>
            {action}
          </button>
        </div>
      </form>
    </Dialog>
  );
}
