import type { NotificationThread } from '../../../../../client/browser.ts';
import { Confirm } from '../../../parts/confirm.tsx';
import { MESSAGES, THREADS } from '../../../data/fleet.ts';
import { words } from './words.ts';

/** Somebody has it: no reminder and no escalation any more. */
export function TakeOver({ thread, onClose }: { thread: Pick<NotificationThread, 'id' | 'subject'>; onClose: () => void }) {
  return (
    <Confirm
      title={words.take.title}
      action={words.take.act}
      isHarmless
      operation="acknowledgeThread"
      input={{ path: { thread_id: thread.id }, body: {} }}
      stale={[THREADS, MESSAGES]}
      onClose={onClose}
    >
      <p>{thread.subject}</p>
      <p>{words.take.about}</p>
    </Confirm>
  );
}
