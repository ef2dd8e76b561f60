import { useState } from 'react';
import { useWrite } from '../../../data/use-write.ts';
import { CheckField, TextField } from '../../../parts/form.tsx';
import { WriteForm } from '../../../parts/write-form.tsx';
import { words } from './words.ts';

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
      action={words.password.act}
      fields={['current_password', 'new_password']}
      isReady={current !== '' && next !== ''}
      onDone={() => location.replace('/')}
    >
      <p className="prose">{words.password.about}</p>
      <TextField
        label={words.password.present}
        name="current_password"
        value={current}
        onChange={setCurrent}
        state={write.state}
        input={{ type: 'password', autoComplete: 'current-password' }}
      />
      <TextField
        label={words.password.next}
        name="new_password"
        hint={words.password.nextHint}
        value={next}
        onChange={setNext}
        state={write.state}
        input={{ type: 'password', autoComplete: 'new-password' }}
      />
      <CheckField label={words.password.keep} isChecked={keeps} onChange={setKeeps} />
    </WriteForm>
  );
}
