import { useState } from 'react';
import type { NotificationGroup, NotificationGroupChange } from '../../../../../client/browser.ts';
import { useFleet } from '../../../data/use-fleet.ts';
import { useWrite } from '../../../data/use-write.ts';
import { changedOfNewest } from '../../../parts/changed.ts';
import { Dialog } from '../../../parts/dialog.tsx';
import { TextField } from '../../../parts/form.tsx';
import { WriteForm } from '../../../parts/write-form.tsx';
import { CheckList } from '../check-list.tsx';
import { GROUPS } from '../directory.ts';
import type { Names } from '../sentence.ts';
import { eventsWords } from '../topics/kinds.ts';
import { offWords, targetName } from '../words.ts';
import { EscalationFields } from './escalation-fields.tsx';
import type { PartProps } from './part-props.ts';
import { PeopleFields } from './people-fields.tsx';
import { TimesFields } from './times-fields.tsx';
import { words } from './words.ts';

export type Asked = 'name' | 'people' | 'targets' | 'topics' | 'sites' | 'times' | 'escalation';

const FIELDS: Record<Asked, readonly string[]> = {
  name: ['name'],
  people: [],
  targets: [],
  topics: [],
  sites: [],
  times: ['schedule_id'],
  escalation: ['escalate_after_minutes', 'escalate_to'],
};

interface Props {
  what: Asked;
  group: NotificationGroup;
  names: Names;
  onClose: () => void;
}

/** Changes one part of a group. */
export function ChangeGroup({ what, group: shown, names, onClose }: Props) {
  const { api } = useFleet();
  // The page goes on with what others change; what this form changes is measured by what it began with.
  const [group] = useState(shown);
  const [draft, setDraft] = useState<NotificationGroupChange>({});
  const write = useWrite('updateNotificationGroup', [GROUPS]);
  const path = { group: group.id };
  const readNewest = (): Promise<NotificationGroupChange> => api.call('getGroup', { path: { group_id: group.id } });
  const part = { group, names, draft, onChange: setDraft, state: write.state };
  return (
    <Dialog title={words.change.title[what](group.name)} onClose={onClose}>
      <WriteForm
        write={write}
        input={async () => ({ path, body: await changedOfNewest<NotificationGroupChange>(group, draft, readNewest) })}
        action={words.change.act}
        fields={FIELDS[what]}
        onCancel={onClose}
        onDone={onClose}
      >
        <Fields what={what} {...part} />
      </WriteForm>
    </Dialog>
  );
}

function Fields({ what, ...part }: PartProps & { what: Asked }) {
  const { group, names, draft, onChange, state } = part;
  switch (what) {
    case 'name':
      return (
        <TextField
          label={words.change.name}
          name="name"
          value={draft.name ?? group.name}
          onChange={(name) => onChange({ name })}
          state={state}
        />
      );
    case 'people':
      return <PeopleFields {...part} />;
    case 'targets':
      return (
        <CheckList
          legend={words.change.channels}
          options={[...names.targets.values()].map((target) => ({
            id: target.id,
            name: targetName(target),
            hint:
              target.verified_at === null
                ? words.change.notProved
                : target.off_reason === null
                  ? target.shown
                  : offWords(target.off_reason),
            text: target.name,
          }))}
          chosen={draft.targets ?? group.targets}
          onChange={(targets) => onChange({ targets: [...targets] })}
          empty={words.change.noChannels}
        />
      );
    case 'topics':
      return (
        <CheckList
          legend={words.change.topics}
          options={[...names.topics.values()].map(({ id, name, events }) => ({ id, name, hint: eventsWords(events), text: name }))}
          chosen={draft.topics ?? group.topics}
          onChange={(topics) => onChange({ topics: [...topics] })}
          empty={words.change.noTopics}
        />
      );
    case 'sites':
      return (
        <CheckList
          legend={words.change.sites}
          options={[...names.sites.values()].map(({ id, name }) => ({ id, name, text: name }))}
          chosen={draft.sites ?? group.sites}
          onChange={(sites) => onChange({ sites: [...sites] })}
          empty={words.change.noSites}
        />
      );
    case 'times':
      return <TimesFields {...part} />;
    case 'escalation':
      return <EscalationFields {...part} />;
  }
}
