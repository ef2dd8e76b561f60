import type { NotificationGroup } from '../../../../../client/browser.ts';
import type { Names } from '../sentence.ts';
import { eventsWords } from '../topics/kinds.ts';
import { words } from './words.ts';

/** What a group is told of. */
export function Topics({ group: { topics }, names }: { group: NotificationGroup; names: Names }) {
  if (topics.length === 0) return <p className="empty">{words.group.noTopic}</p>;
  return (
    <ul className="names">
      {topics.map((id) => {
        const topic = names.topics.get(id);
        return (
          <li key={id}>
            <b>{topic?.name ?? words.group.removedTopic}</b> <span className="dim">{topic ? eventsWords(topic.events) : ''}</span>
          </li>
        );
      })}
    </ul>
  );
}
