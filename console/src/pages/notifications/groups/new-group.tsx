import { useNavigate } from '@tanstack/react-router';
import { useState } from 'react';
import type { Topic } from '../../../../../client/browser.ts';
import { useFleet } from '../../../data/use-fleet.ts';
import { useWrite } from '../../../data/use-write.ts';
import { Dialog } from '../../../parts/dialog.tsx';
import { CheckField, TextField } from '../../../parts/form.tsx';
import { Reading, ReadingFailed } from '../../../parts/reading.tsx';
import { WriteForm } from '../../../parts/write-form.tsx';
import { GROUPS, useAll } from '../directory.ts';
import { CheckList } from '../check-list.tsx';
import { eventsWords } from '../topics/kinds.ts';
import { words } from './words.ts';

/** A group that tells somebody of something at once; its page has the rest. */
export function NewGroup({ onClose }: { onClose: () => void }) {
  const { me } = useFleet();
  const navigate = useNavigate();
  const { data: topics, error } = useAll('topics', 'listTopics');
  const [name, setName] = useState('');
  const [picked, setPicked] = useState<readonly string[]>();
  // The oldest first: those of a new team begin with what everybody wants.
  const ordered = outagesFirst((topics ?? []).toReversed());
  // What nearly everybody wants to be told of, until the person chooses.
  const chosen = picked ?? ordered.filter(isOutages).map(({ id }) => id);
  const [tellsMe, setTellsMe] = useState(true);
  const write = useWrite('createGroup', [GROUPS]);
  return (
    <Dialog title={words.new.title} onClose={onClose}>
      <WriteForm
        write={write}
        input={() => ({ body: { name, topics: [...chosen], recipients: tellsMe ? [me.id] : [] } })}
        action={words.new.act}
        fields={['name']}
        isReady={name.trim() !== ''}
        onCancel={onClose}
        onDone={({ id }) => void navigate({ to: '/notifications/groups/$groupId', params: { groupId: id } })}
      >
        <TextField
          label={words.new.name}
          name="name"
          hint={words.new.nameHint}
          value={name}
          onChange={setName}
          state={write.state}
          input={{ autoComplete: 'off', 'data-autofocus': true } as React.ComponentProps<'input'>}
        />
        {topics === undefined ? (
          error ? (
            <ReadingFailed error={error} what={words.new.topics} />
          ) : (
            <Reading />
          )
        ) : (
          <CheckList
            legend={words.new.toldOf}
            options={ordered.map(({ id, name: topic, events }) => ({ id, name: topic, hint: eventsWords(events), text: topic }))}
            chosen={chosen}
            onChange={setPicked}
            empty={words.new.noTopics}
          />
        )}
        <CheckField label={words.new.tellMe(me.email ?? me.id)} isChecked={tellsMe} onChange={setTellsMe} />
        <p className="hint">{words.new.rest}</p>
      </WriteForm>
    </Dialog>
  );
}

/** Routers or agents that are away. */
function isOutages({ events }: Topic): boolean {
  return events.includes('fault.router_offline') || events.includes('fault.agent_offline');
}

/** Else in the given order. */
function outagesFirst(topics: readonly Topic[]): Topic[] {
  return [...topics.filter(isOutages), ...topics.filter((topic) => !isOutages(topic))];
}
