import { Link } from '@tanstack/react-router';
import { useState } from 'react';
import type { NotificationGroup } from '../../../../../client/browser.ts';
import { Empty } from '../../../parts/empty.tsx';
import { Reading, ReadingFailed } from '../../../parts/reading.tsx';
import { useMay } from '../../../session/use-may.ts';
import { NotificationsArea } from '../area.tsx';
import { useNames } from '../directory.ts';
import type { Names } from '../sentence.ts';
import { words as areaWords } from '../words.ts';
import { NewGroup } from './new-group.tsx';
import { GroupSentence, Reaches } from './said.tsx';
import { words } from './words.ts';

/** Who is told of what, where and when: each group as a sentence. */
export function GroupsPage() {
  const mayChange = useMay('admin');
  const [isMaking, setMaking] = useState(false);
  return (
    <NotificationsArea
      name={areaWords.part.groups}
      note={words.note}
      actions={
        mayChange ? (
          <button type="button" className="btn main-act" onClick={() => setMaking(true)}>
            {words.make}
          </button>
        ) : undefined
      }
    >
      <Groups mayChange={mayChange} />
      {isMaking ? <NewGroup onClose={() => setMaking(false)} /> : null}
    </NotificationsArea>
  );
}

function Groups({ mayChange }: { mayChange: boolean }) {
  const { names, error } = useNames();
  if (names === undefined) return error ? <ReadingFailed error={error} what={words.list.what} /> : <Reading />;
  if (names.groups.size === 0) {
    return (
      <div className="empty">
        <Empty title={words.list.empty}>
          {words.list.emptyText} {mayChange ? words.list.make : words.list.ask}
        </Empty>
      </div>
    );
  }
  return (
    <ul className="groups">
      {[...names.groups.values()].map((group) => (
        <Told key={group.id} group={group} names={names} />
      ))}
    </ul>
  );
}

function Told({ group, names }: { group: NotificationGroup; names: Names }) {
  return (
    <li>
      <h2>
        <Link to="/notifications/groups/$groupId" params={{ groupId: group.id }}>
          {group.name}
        </Link>
      </h2>
      <p>
        <GroupSentence group={group} names={names} />
      </p>
      <Reaches group={group} />
    </li>
  );
}
