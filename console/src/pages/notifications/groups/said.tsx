import type { NotificationGroup } from '../../../../../client/browser.ts';
import { WorkLamp } from '../../../parts/work-lamp.tsx';
import { groupSentence, whyNobody } from '../sentence.ts';
import type { Names } from '../sentence.ts';

/** What a group does, in a sentence. */
export function GroupSentence({ group, names }: { group: NotificationGroup; names: Names }) {
  return groupSentence(group, names).map(({ text, look }, index) =>
    look === undefined ? (
      text
    ) : (
      <b key={index} className={look === 'loud' ? 'c-not' : undefined}>
        {text}
      </b>
    ),
  );
}

/** Whether a group tells anybody now; if not, why, and the way out. */
export function Reaches({ group }: { group: NotificationGroup }) {
  const why = whyNobody(group);
  return (
    <p className="reaches">
      {why === undefined ? (
        <span className="lamp">
          <WorkLamp work="done" />
          <span className="dim">reaches {group.reaches === 1 ? 'one address' : `${group.reaches} addresses`}</span>
        </span>
      ) : (
        <>
          <span className="lamp">
            <WorkLamp work="failed" />
            <b className="c-not">reaches nobody</b>
          </span>{' '}
          {why}
        </>
      )}
      {group.muted_now ? (
        <span className="lamp">
          <WorkLamp work="canceled" />
          <b>muted now</b>
        </span>
      ) : null}
    </p>
  );
}
