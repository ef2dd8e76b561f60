import type { Unsubscription } from '../../../../../client/browser.ts';
import { useRecord } from '../../../data/use-record.ts';
import { useWrite } from '../../../data/use-write.ts';
import { fill } from '../../../parts/fill.tsx';
import { Outcome } from '../../../parts/form.tsx';
import { Moment } from '../../../parts/moment.tsx';
import { Reading, ReadingFailed } from '../../../parts/reading.tsx';
import { GROUPS, useAll } from '../directory.ts';
import { words } from './words.ts';

const LEFT = 'unsubscriptions';

/** What the person has left by the links of messages, and takes back here. */
export function Left() {
  const { data, error } = useRecord(LEFT, 'listUnsubscriptions', {});
  const write = useWrite('deleteUnsubscription', [LEFT, GROUPS]);
  const nameOf = useNameOf();
  if (!data) return error ? <ReadingFailed error={error} what={words.left.what} /> : <Reading />;
  if (data.length === 0) return <p className="empty">{words.left.empty}</p>;
  return (
    <>
      <ul className="form-lines">
        {data.map((left) => (
          <li key={left.id} className="form-line">
            <span>
              <b className="b">{nameOf(left)}</b> <span className="dim">{fill(words.left.at, { time: <Moment at={left.at} /> })}</span>
            </span>
            <button
              type="button"
              className="btn quiet sm"
              onClick={() => void write.send({ path: { unsubscription_id: left.id } })}
              disabled={write.state.kind === 'sending'}
            >
              {words.left.again}
              <span className="sr">: {nameOf(left)}</span>
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
    if (scope === 'all') return words.left.all;
    const known = scope === 'group' ? groups : topics;
    if (known === undefined) return words.left.some[scope];
    const name = known.find((one) => one.id === id)?.name;
    return name === undefined ? words.left.removed[scope] : words.left.named[scope](name);
  };
}
