import { useNavigate } from '@tanstack/react-router';
import { useState } from 'react';
import { useFleet } from '../../../data/use-fleet.ts';
import { useWrite } from '../../../data/use-write.ts';
import { Dialog } from '../../../parts/dialog.tsx';
import { CheckField, TextField } from '../../../parts/form.tsx';
import { Reading, ReadingFailed } from '../../../parts/reading.tsx';
import { WriteForm } from '../../../parts/write-form.tsx';
import { GROUPS, useAll } from '../directory.ts';
import { CheckList } from '../check-list.tsx';
import { eventsWords } from '../topics/kinds.ts';

/** A group that tells somebody of something at once; its page has the rest. */
export function NewGroup({ onClose }: { onClose: () => void }) {
  const { me } = useFleet();
  const navigate = useNavigate();
  const { data: topics, error } = useAll('topics', 'listTopics');
  const [name, setName] = useState('');
  const [chosen, setChosen] = useState<readonly string[]>([]);
  const [tellsMe, setTellsMe] = useState(true);
  const write = useWrite('createGroup', [GROUPS]);
  return (
    <Dialog title="Make a group" onClose={onClose}>
      <WriteForm
        write={write}
        input={() => ({ body: { name, topics: [...chosen], recipients: tellsMe ? [me.id] : [] } })}
        action="Make the group"
        fields={['name']}
        isReady={name.trim() !== ''}
        onCancel={onClose}
        onDone={({ id }) => void navigate({ to: '/notifications/groups/$groupId', params: { groupId: id } })}
      >
        <TextField
          label="Name"
          name="name"
          hint="Who they are: On call, Night shift, Customer of Madrid"
          value={name}
          onChange={setName}
          state={write.state}
          input={{ autoComplete: 'off', 'data-autofocus': true } as React.ComponentProps<'input'>}
        />
        {topics === undefined ? (
          error ? (
            <ReadingFailed error={error} what="Topics" />
          ) : (
            <Reading />
          )
        ) : (
          <CheckList
            legend="Are told of"
            options={topics.map(({ id, name: topic, events }) => ({ id, name: topic, hint: eventsWords(events), text: topic }))}
            chosen={chosen}
            onChange={setChosen}
            empty="The team has no topics. Make one under Topics, then choose it on the page of the group."
          />
        )}
        <CheckField label={`Tell me, ${me.email ?? me.id}`} isChecked={tellsMe} onChange={setTellsMe} />
        <p className="hint">Other people, channels, sites and times are chosen on its page.</p>
      </WriteForm>
    </Dialog>
  );
}
