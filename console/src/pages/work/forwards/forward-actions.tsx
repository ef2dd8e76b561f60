import { useState } from 'react';
import type { TransientForward } from '../../../../../client/browser.ts';
import { useRecord } from '../../../data/use-record.ts';
import { useWrite } from '../../../data/use-write.ts';
import { changedFields } from '../../../parts/changed.ts';
import { Confirm } from '../../../parts/confirm.tsx';
import { Dialog } from '../../../parts/dialog.tsx';
import { endpoint } from '../../../parts/endpoint.ts';
import { Outcome, SelectField, TextField } from '../../../parts/form.tsx';
import { useMay } from '../../../session/use-may.ts';
import { LENGTHS } from './forward-form.ts';
import type { Minutes } from './forward-form.ts';
import { words } from './words.ts';

/** Extend, give another source, close. */
export function ForwardActions({ forward, isOpen }: { forward: TransientForward; isOpen: boolean }) {
  const mayChange = useMay('operator');
  const [asking, setAsking] = useState<'change' | 'close'>();
  if (!mayChange || !isOpen) return null;
  const close = (): void => setAsking(undefined);
  return (
    <>
      <button type="button" className="btn" onClick={() => setAsking('change')}>
        {words.acts.extend}
      </button>
      <button type="button" className="btn danger" onClick={() => setAsking('close')}>
        {words.acts.close}
      </button>
      {asking === 'change' ? <ChangeDialog forward={forward} onClose={close} /> : null}
      {asking === 'close' ? (
        <Confirm
          title={words.closing.title(endpoint(forward.dst_address, forward.dst_port))}
          action={words.closing.close}
          operation="revokeForward"
          input={{ path: { router_id: forward.router_id, id: forward.id } }}
          stale={['forwards', 'overview']}
          onClose={close}
        >
          <p>
            {forward.open_connections === 0 ? words.closing.nobody : words.closing.cuts(forward.open_connections)} {words.closing.port}
          </p>
        </Confirm>
      ) : null}
    </>
  );
}

function ChangeDialog({ forward, onClose }: { forward: TransientForward; onClose: () => void }) {
  const [minutes, setMinutes] = useState<Minutes>('60');
  const [from, setFrom] = useState(forward.allow_only_cidr);
  const [first] = useState({ allow_from: from });
  const { data: mine } = useRecord('address', 'whereAmI', {});
  const write = useWrite('changeForward', ['forwards', 'overview']);
  async function answered(result: Promise<object | undefined>): Promise<void> {
    if (await result) onClose();
  }
  return (
    <Dialog title={words.extending.title} onClose={onClose}>
      <form
        onSubmit={(event) => {
          event.preventDefault();
          const input = {
            path: { router_id: forward.router_id, id: forward.id },
            body: { expire_after_minutes: Number(minutes), ...changedFields(first, { allow_from: from.trim() }) },
          };
          void answered(write.send(input));
        }}
      >
        <SelectField
          label={words.extending.length}
          name="expire_after_minutes"
          hint={words.extending.lengthHint}
          state={write.state}
          value={minutes}
          onChange={setMinutes}
          options={LENGTHS}
        />
        <TextField
          label={words.extending.from}
          name="allow_from"
          hint={mine ? words.extending.fromHintWith(mine.address) : words.extending.fromHint}
          state={write.state}
          value={from}
          onChange={setFrom}
          input={{ autoComplete: 'off', spellCheck: false }}
        />
        <Outcome state={write.state} onLookAgain={() => void answered(write.lookAgain())} fields={['expire_after_minutes', 'allow_from']} />
        <div className="form-acts">
          <button type="button" className="btn" onClick={onClose}>
            {words.extending.cancel}
          </button>
          <button type="submit" className="btn main-act" disabled={write.state.kind === 'sending'}>
            {words.extending.extend}
          </button>
        </div>
      </form>
    </Dialog>
  );
}
