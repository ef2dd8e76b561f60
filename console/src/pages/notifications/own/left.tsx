import type { Unsubscription } from '../../../../../client/browser.ts';
import { useRecord } from '../../../data/use-record.ts';
import { useWrite } from '../../../data/use-write.ts';
import { Outcome } from '../../../parts/form.tsx';
import { Moment } from '../../../parts/moment.tsx';
import { Reading, ReadingFailed } from '../../../parts/reading.tsx';
import { GROUPS, useAll } from '../directory.ts';

const LEFT = 'unsubscriptions';

/** What the person has left by the links of messages, and takes back here. */
export function Left() {
  const { data, error } = useRecord(LEFT, 'listUnsubscriptions', {});
  const write = useWrite('deleteUnsubscription', [LEFT, GROUPS]);
  const nameOf = useNameOf();
  if (!data) return error ? <ReadingFailed error={error} what="What you have left" /> : <Reading />;
  if (data.length === 0) return <p className="empty">Nothing. Every mail has a link that leaves its topic, its group or everything.</p>;
  return (
    <>
      <ul className="form-lines">
        {data.map((left) => (
          <li key={left.id} className="form-line">
            <span>
              <b className="b">{nameOf(left)}</b>{' '}
              <span className="dim">
                left <Moment at={left.at} />
              </span>
            </span>
            <button
              type="button"
              className="btn quiet sm"
              onClick={() => void write.send({ path: { unsubscription_id: left.id } })}
              disabled={write.state.kind === 'sending'}
            >
              Get it again<span className="sr">: {nameOf(left)}</span>
            </button>
          </li>
        ))}
      </ul>
      <Outcome state={write.state} onLookAgain={() => void write.lookAgain()} />
    </>
  );
}

function useNameOf(): (left: Unsubscription) => string {
  const groups = useAll(GROUPS, 'listGroups').data;
  const topics = useAll('topics', 'listTopics').data;
  return ({ scope, scope_id: id }) => {
    if (scope === 'all') return 'everything of the team';
    const known = scope === 'group' ? groups : topics;
    if (known === undefined) return `a ${scope}`;
    return `${scope} ${known.find((one) => one.id === id)?.name ?? 'that has been removed'}`;
  };
}
