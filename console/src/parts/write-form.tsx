import type { Input, OperationId } from '../../../client/browser.ts';
import type { Answered, Write } from '../data/use-write.ts';
import { Outcome } from './form.tsx';
import { words } from './words.ts';

interface Props<Id extends OperationId> {
  write: Write<Id>;
  /** What is sent, read when the form is sent. */
  input: () => Input<Id> | Promise<Input<Id>>;
  /** What the button says: the deed. */
  action: string;
  /** Fields that show their own reasons. */
  fields?: readonly string[];
  /** The page's main action; another one is outlined. */
  isMain?: boolean;
  /** False: something that is needed is missing still. */
  isReady?: boolean;
  onCancel?: () => void;
  onDone: (answer: Answered<Id>) => void;
  children: React.ReactNode;
}

/** A form that sends one write: its fields, what became of it, and its button. */
export function WriteForm<Id extends OperationId>(props: Props<Id>) {
  const { write, input, action, fields = [], isMain = true, isReady = true, onCancel, onDone, children } = props;
  async function answered(answer: Promise<Answered<Id> | undefined>): Promise<void> {
    const done = await answer;
    if (done !== undefined) onDone(done);
  }
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault();
        void answered(write.send(async () => input()));
      }}
    >
      {children}
      <Outcome state={write.state} onLookAgain={() => void answered(write.lookAgain())} fields={fields} />
      <div className="form-acts">
        {onCancel === undefined ? null : (
          <button type="button" className="btn" onClick={onCancel}>
            {words.cancel}
          </button>
        )}
        <button type="submit" className={isMain ? 'btn main-act' : 'btn'} disabled={write.state.kind === 'sending' || !isReady}>
          {action}
        </button>
      </div>
    </form>
  );
}
