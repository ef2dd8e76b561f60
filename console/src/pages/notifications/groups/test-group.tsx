import { useState } from 'react';
import { Link } from '@tanstack/react-router';
import type { Notification, NotificationGroup } from '../../../../../client/browser.ts';
import { useWrite } from '../../../data/use-write.ts';
import type { Answered } from '../../../data/use-write.ts';
import { Dialog } from '../../../parts/dialog.tsx';
import { Outcome } from '../../../parts/form.tsx';
import { MessageState, receiverOf } from '../log/message-columns.tsx';
import { MESSAGES, THREADS } from '../../../data/fleet.ts';
import type { Names } from '../sentence.ts';
import { channelName } from '../words.ts';
import { words } from './words.ts';

interface Props {
  group: NotificationGroup;
  names: Names;
  onClose: () => void;
}

/** Sends a test to everybody in a group, and says of each line what became of it. */
export function TestGroup({ group, names, onClose }: Props) {
  const write = useWrite('testGroup', [MESSAGES, THREADS]);
  const [tested, setTested] = useState<{ thread_id: string; messages: readonly Notification[] }>();
  const take = async (answer: Promise<Answered<'testGroup'> | undefined>): Promise<void> => {
    const done = await answer;
    if (done !== undefined) setTested(done.data);
  };
  const isSending = write.state.kind === 'sending';
  return (
    <Dialog title={words.test.title(group.name)} onClose={onClose}>
      <p className="prose">{group.reaches === 0 ? words.test.reachesNobody : words.test.about}</p>
      <div role="status">
        {isSending ? <p className="prose">{words.test.sending}</p> : null}
        {tested && !isSending ? <Lines messages={tested.messages} names={names} /> : null}
      </div>
      <Outcome state={write.state} onLookAgain={() => void take(write.lookAgain())} />
      <div className="form-acts">
        {tested ? (
          <Link to="/notifications/threads/$threadId" params={{ threadId: tested.thread_id }} className="btn">
            {words.test.thread}
          </Link>
        ) : null}
        <button
          type="button"
          className={tested ? 'btn' : 'btn main-act'}
          disabled={isSending}
          onClick={() => void take(write.send({ path: { group_id: group.id } }))}
        >
          {tested ? words.test.again : words.test.send}
        </button>
      </div>
    </Dialog>
  );
}

function Lines({ messages, names }: { messages: readonly Notification[]; names: Names }) {
  if (messages.length === 0) return <p className="prose">{words.test.empty}</p>;
  return (
    <ul className="form-lines" aria-label={words.test.result}>
      {messages.map((message) => (
        <li key={message.id} className="test-line">
          <b className="b">{receiverOf(message, names)}</b> <span className="dim">{words.test.by(channelName(message.channel))}</span>
          <br />
          <MessageState message={message} />
        </li>
      ))}
    </ul>
  );
}
