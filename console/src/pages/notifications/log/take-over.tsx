import type { NotificationThread } from '../../../../../client/browser.ts';
import { Confirm } from '../../../parts/confirm.tsx';
import { MESSAGES, THREADS } from '../../../data/fleet.ts';

/** Somebody has it: no reminder and no escalation any more. */
export function TakeOver({ thread, onClose }: { thread: Pick<NotificationThread, 'id' | 'subject'>; onClose: () => void }) {
  return (
    <Confirm
      title="Take this over?"
      action="I take it over"
      isHarmless
      operation="acknowledgeThread"
      input={{ path: { thread_id: thread.id }, body: {} }}
      stale={[THREADS, MESSAGES]}
      onClose={onClose}
    >
      <p>{thread.subject}</p>
      <p>
        Nobody is reminded of it any more, and no other group is told. Those who were told hear that you have it. Its end is told as ever.
      </p>
    </Confirm>
  );
}
