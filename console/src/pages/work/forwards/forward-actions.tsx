import { useState } from 'react';
import type { TransientForward } from '../../../../../client/browser.ts';
import { useRecord } from '../../../data/use-record.ts';
import { useWrite } from '../../../data/use-write.ts';
import { Confirm } from '../../../parts/confirm.tsx';
import { Dialog } from '../../../parts/dialog.tsx';
import { Outcome, SelectField, TextField } from '../../../parts/form.tsx';
import { useMay } from '../../../session/use-may.ts';
import { countOf } from '../words.ts';
import { LENGTHS } from './forward-form.ts';
import type { Minutes } from './forward-form.ts';
import { endpoint } from './words.ts';

/** Extend, give another source, close. */
export function ForwardActions({ forward, isOpen }: { forward: TransientForward; isOpen: boolean }) {
  const mayChange = useMay('operator');
  const [asking, setAsking] = useState<'change' | 'close'>();
  if (!mayChange || !isOpen) return null;
  const close = (): void => setAsking(undefined);
  return (
    <>
      <button type="button" className="btn" onClick={() => setAsking('change')}>
        Extend
      </button>
      <button type="button" className="btn danger" onClick={() => setAsking('close')}>
        Close it now
      </button>
      {asking === 'change' ? <ChangeDialog forward={forward} onClose={close} /> : null}
      {asking === 'close' ? (
        <Confirm
          title={`Close the forward to ${endpoint(forward.dst_address, forward.dst_port)}?`}
          action="Close it now"
          operation="revokeForward"
          input={{ path: { router_id: forward.router_id, id: forward.id } }}
          stale={['forwards', 'overview']}
          onClose={close}
        >
          <p>
            {forward.open_connections === 0
              ? 'Nobody is connected now.'
              : `${countOf(forward.open_connections, 'open connection')} ${forward.open_connections === 1 ? 'is' : 'are'} cut.`}{' '}
            Its port is not used again for ten minutes.
          </p>
        </Confirm>
      ) : null}
    </>
  );
}

function ChangeDialog({ forward, onClose }: { forward: TransientForward; onClose: () => void }) {
  const [minutes, setMinutes] = useState<Minutes>('60');
  const [from, setFrom] = useState(forward.allow_only_cidr);
  const { data: mine } = useRecord('address', 'whereAmI', {});
  const write = useWrite('changeForward', ['forwards', 'overview']);
  async function answered(result: Promise<object | undefined>): Promise<void> {
    if (await result) onClose();
  }
  return (
    <Dialog title="Extend the forward" onClose={onClose}>
      <form
        onSubmit={(event) => {
          event.preventDefault();
          const source = from.trim() === forward.allow_only_cidr ? {} : { allow_from: from.trim() };
          const input = {
            path: { router_id: forward.router_id, id: forward.id },
            body: { expire_after_minutes: Number(minutes), ...source },
          };
          void answered(write.send(input));
        }}
      >
        <SelectField
          label="From now on for"
          name="expire_after_minutes"
          hint="Less than it has left makes it shorter"
          state={write.state}
          value={minutes}
          onChange={setMinutes}
          options={LENGTHS}
        />
        <TextField
          label="Allow from"
          name="allow_from"
          hint={`Connections from other addresses end.${mine ? ` Yours is ${mine.address}` : ''}`}
          state={write.state}
          value={from}
          onChange={setFrom}
          input={{ autoComplete: 'off', spellCheck: false }}
        />
        <Outcome state={write.state} onLookAgain={() => void answered(write.lookAgain())} fields={['expire_after_minutes', 'allow_from']} />
        <div className="form-acts">
          <button type="button" className="btn" onClick={onClose}>
            Cancel
          </button>
          <button type="submit" className="btn main-act" disabled={write.state.kind === 'sending'}>
            Extend it
          </button>
        </div>
      </form>
    </Dialog>
  );
}
