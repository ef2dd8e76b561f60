import { useState } from 'react';
import { useWrite } from '../../../data/use-write.ts';
import { CheckField, TextField } from '../../../parts/form.tsx';
import { WriteForm } from '../../../parts/write-form.tsx';

/** Another password. The session ends with it, so the page goes on at the sign-in. */
export function Password() {
  const [current, setCurrent] = useState('');
  const [next, setNext] = useState('');
  const [keeps, setKeeps] = useState(false);
  const write = useWrite('changeOwnPassword', []);
  return (
    <WriteForm
      write={write}
      input={() => ({ body: { current_password: current, new_password: next, keep_opened: keeps } })}
      action="Change password"
      fields={['current_password', 'new_password']}
      isReady={current !== '' && next !== ''}
      onDone={() => location.replace('/')}
    >
      <p className="prose">All your sessions end, in every browser and team, this one too: you sign in again with the new password.</p>
      <TextField
        label="Present password"
        name="current_password"
        value={current}
        onChange={setCurrent}
        state={write.state}
        input={{ type: 'password', autoComplete: 'current-password' }}
      />
      <TextField
        label="New password"
        name="new_password"
        hint="8 to 256 characters"
        value={next}
        onChange={setNext}
        state={write.state}
        input={{ type: 'password', autoComplete: 'new-password' }}
      />
      <CheckField
        label="Keep my forwards, waiting jobs and campaigns. Not if somebody else may know the old password"
        isChecked={keeps}
        onChange={setKeeps}
      />
    </WriteForm>
  );
}
