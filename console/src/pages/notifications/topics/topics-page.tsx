import { useState } from 'react';
import type { Topic } from '../../../../../client/browser.ts';
import { Confirm } from '../../../parts/confirm.tsx';
import { Empty } from '../../../parts/empty.tsx';
import { ReadingFailed } from '../../../parts/reading.tsx';
import { ShortTable } from '../../../parts/short-table.tsx';
import { useMay } from '../../../session/use-may.ts';
import { NotificationsArea } from '../area.tsx';
import { GROUPS, listOf, useAll } from '../directory.ts';
import { listed } from '../words.ts';
import { eventsWords } from './kinds.ts';
import { TopicDialog } from './topic-dialog.tsx';

type Asked = { kind: 'new' } | { kind: 'change' | 'remove'; topic: Topic };

/** What groups can be told of. */
export function TopicsPage() {
  const mayChange = useMay('admin');
  const [asked, setAsked] = useState<Asked>();
  const close = () => setAsked(undefined);
  return (
    <NotificationsArea
      name="Topics"
      note="A topic is a list of what can happen. Groups follow topics, and people can leave one without leaving the group."
      actions={
        mayChange ? (
          <button type="button" className="btn main-act" onClick={() => setAsked({ kind: 'new' })}>
            Make a topic
          </button>
        ) : undefined
      }
    >
      <Topics onAsk={mayChange ? setAsked : undefined} />
      {asked?.kind === 'new' ? <TopicDialog onClose={close} /> : null}
      {asked?.kind === 'change' ? <TopicDialog topic={asked.topic} onClose={close} /> : null}
      {asked?.kind === 'remove' ? (
        <Confirm
          title={`Remove the topic ${asked.topic.name}?`}
          action="Remove the topic"
          operation="deleteTopic"
          input={{ path: { topic_id: asked.topic.id } }}
          stale={['topics', GROUPS]}
          onClose={close}
        >
          <p>Groups that follow it are not told of this any more.</p>
        </Confirm>
      ) : null}
    </NotificationsArea>
  );
}

/** @param onAsk given to those who may change topics */
function Topics({ onAsk }: { onAsk: ((asked: Asked) => void) | undefined }) {
  const list = listOf(useAll('topics', 'listTopics'));
  const { data: groups, error } = useAll(GROUPS, 'listGroups');
  const followersOf = (id: string) => (groups ?? []).filter(({ topics }) => topics.includes(id)).map(({ name }) => name);
  return (
    <>
      <ShortTable<Topic>
        label="Topics"
        list={list}
        keyOf={({ id }) => id}
        columns={[
          { title: 'Topic', width: 'minmax(120px, .6fr)', className: 'el', cell: ({ name }) => <b>{name}</b> },
          { title: 'What happens', width: 'minmax(200px, 2fr)', className: 'dim wrap', cell: ({ events }) => eventsWords(events) },
          {
            title: 'Followed by',
            width: 'minmax(110px, .8fr)',
            className: 'wrap',
            cell: ({ id }) =>
              groups !== undefined && followersOf(id).length === 0 ? <span className="faint">no group</span> : listed(followersOf(id)),
          },
          ...(onAsk === undefined
            ? []
            : [
                {
                  title: 'Actions',
                  width: '140px',
                  className: 'row-acts',
                  cell: (topic: Topic) => (
                    <>
                      <button type="button" className="btn quiet sm" onClick={() => onAsk({ kind: 'change', topic })}>
                        Change<span className="sr"> {topic.name}</span>
                      </button>
                      <button type="button" className="btn quiet sm" onClick={() => onAsk({ kind: 'remove', topic })}>
                        Remove<span className="sr"> {topic.name}</span>
                      </button>
                    </>
                  ),
                },
              ]),
        ]}
        empty={
          <Empty title="No topic yet.">
            Outages, failed jobs or changed configurations would be here, for groups to follow.{' '}
            {onAsk ? 'Make one above.' : 'People with the role admin make topics.'}
          </Empty>
        }
      />
      {groups === undefined && error && list.records.length > 0 ? <ReadingFailed error={error} what="Which groups follow them" /> : null}
    </>
  );
}
