import { useState } from 'react';
import type { Topic, TopicChange } from '../../../../../client/browser.ts';
import { useFleet } from '../../../data/use-fleet.ts';
import { useWrite } from '../../../data/use-write.ts';
import { changedOfNewest } from '../../../parts/changed.ts';
import { Dialog } from '../../../parts/dialog.tsx';
import { CheckField, TextField } from '../../../parts/form.tsx';
import { WriteForm } from '../../../parts/write-form.tsx';
import { GROUPS } from '../directory.ts';
import { KindsField } from './kinds-field.tsx';
import { EVERYTHING, isKnown } from './kinds.ts';
import { words } from './words.ts';

/** Makes a topic, or changes one. */
export function TopicDialog({ topic, onClose }: { topic?: Topic; onClose: () => void }) {
  const { api } = useFleet();
  const [name, setName] = useState(topic?.name ?? '');
  const [events, setEvents] = useState<readonly string[]>(topic?.events ?? []);
  const [others, setOthers] = useState((topic?.events ?? []).filter((event) => !isKnown(event)).join(' '));
  const stale = ['topics', GROUPS];
  const create = useWrite('createTopic', stale);
  const change = useWrite('changeTopic', stale);
  const values = { name: name.trim(), events: [...events.filter(isKnown), ...others.split(/[\s,]+/).filter((one) => one !== '')] };
  const [first] = useState(values);
  const changeOf = async (path: { topic_id: string }) => ({
    path,
    body: await changedOfNewest<TopicChange>(first, values, async () => (await api.call('getTopic', { path })).data),
  });
  const { state } = topic ? change : create;
  const shared = {
    action: topic ? words.dialog.save : words.dialog.make,
    fields: ['name', 'events'],
    isReady: name.trim() !== '',
    onCancel: onClose,
    onDone: onClose,
  };
  const inputs = (
    <>
      <TextField label={words.dialog.name} name="name" value={name} onChange={setName} state={state} input={{ autoComplete: 'off' }} />
      <CheckField
        label={words.dialog.everything}
        isChecked={events.includes(EVERYTHING)}
        onChange={(isOn) => setEvents(isOn ? [EVERYTHING] : [])}
      />
      {events.includes(EVERYTHING) ? null : <KindsField events={events} onChange={setEvents} />}
      <TextField
        label={words.dialog.others}
        name="events"
        hint={words.dialog.othersHint}
        value={others}
        onChange={setOthers}
        state={state}
        input={{ autoComplete: 'off', spellCheck: false }}
      />
    </>
  );
  return (
    <Dialog title={topic ? words.dialog.change(topic.name) : words.dialog.title} onClose={onClose}>
      {topic ? (
        <WriteForm write={change} input={() => changeOf({ topic_id: topic.id })} {...shared}>
          {inputs}
        </WriteForm>
      ) : (
        <WriteForm write={create} input={() => ({ body: values })} {...shared}>
          {inputs}
        </WriteForm>
      )}
    </Dialog>
  );
}
