import { useState } from 'react';
import type { Topic } from '../../../../../client/browser.ts';
import { Confirm } from '../../../parts/confirm.tsx';
import { Empty } from '../../../parts/empty.tsx';
import { ReadingFailed } from '../../../parts/reading.tsx';
import { ShortTable } from '../../../parts/short-table.tsx';
import { useMay } from '../../../session/use-may.ts';
import { NotificationsArea } from '../area.tsx';
import { GROUPS, listOf, useAll } from '../directory.ts';
import { listed, words as areaWords } from '../words.ts';
import { eventsWords } from './kinds.ts';
import { TopicDialog } from './topic-dialog.tsx';
import { words } from './words.ts';

type Asked = { kind: 'new' } | { kind: 'change' | 'remove'; topic: Topic };

/** What groups can be told of. */
export function TopicsPage() {
  const mayChange = useMay('admin');
  const [asked, setAsked] = useState<Asked>();
  const close = () => setAsked(undefined);
  return (
    <NotificationsArea
      name={areaWords.part.topics}
      note={words.note}
      actions={
        mayChange ? (
          <button type="button" className="btn main-act" onClick={() => setAsked({ kind: 'new' })}>
            {words.make}
          </button>
        ) : undefined
      }
    >
      <Topics onAsk={mayChange ? setAsked : undefined} />
      {asked?.kind === 'new' ? <TopicDialog onClose={close} /> : null}
      {asked?.kind === 'change' ? <TopicDialog topic={asked.topic} onClose={close} /> : null}
      {asked?.kind === 'remove' ? (
        <Confirm
          title={words.remove.title(asked.topic.name)}
          action={words.remove.act}
          operation="deleteTopic"
          input={{ path: { topic_id: asked.topic.id } }}
          stale={['topics', GROUPS]}
          onClose={close}
        >
          <p>{words.remove.about}</p>
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
        label={words.table.label}
        list={list}
        keyOf={({ id }) => id}
        columns={[
          { title: words.table.topic, width: 'minmax(120px, .6fr)', className: 'el', cell: ({ name }) => <b>{name}</b> },
          { title: words.table.events, width: 'minmax(200px, 2fr)', className: 'dim wrap', cell: ({ events }) => eventsWords(events) },
          {
            title: words.table.groups,
            width: 'minmax(110px, .8fr)',
            className: 'wrap',
            cell: ({ id }) =>
              groups !== undefined && followersOf(id).length === 0 ? (
                <span className="faint">{words.table.noGroup}</span>
              ) : (
                listed(followersOf(id))
              ),
          },
          ...(onAsk === undefined
            ? []
            : [
                {
                  title: words.table.actions,
                  width: '140px',
                  className: 'row-acts',
                  cell: (topic: Topic) => (
                    <>
                      <button type="button" className="btn quiet sm" onClick={() => onAsk({ kind: 'change', topic })}>
                        {words.table.change}
                        <span className="sr"> {topic.name}</span>
                      </button>
                      <button type="button" className="btn quiet sm" onClick={() => onAsk({ kind: 'remove', topic })}>
                        {words.table.remove}
                        <span className="sr"> {topic.name}</span>
                      </button>
                    </>
                  ),
                },
              ]),
        ]}
        empty={
          <Empty title={words.empty.title}>
            {words.empty.text} {onAsk ? words.empty.make : words.empty.ask}
          </Empty>
        }
      />
      {groups === undefined && error && list.records.length > 0 ? <ReadingFailed error={error} what={words.followers} /> : null}
    </>
  );
}
