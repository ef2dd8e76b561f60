import type { NotificationGroup } from '../../../../../client/browser.ts';
import { WorkLamp } from '../../../parts/work-lamp.tsx';
import { groupSentence, whyNobody } from '../sentence.ts';
import type { Names } from '../sentence.ts';
import { useUnconfigured } from '../unconfigured.tsx';
import { channelName, words as allWords } from '../words.ts';
import { words } from './words.ts';

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
          <span className="dim">{words.reaches.some(group.reaches)}</span>
        </span>
      ) : (
        <>
          <span className="lamp">
            <WorkLamp work="failed" />
            <b className="c-not">{words.reaches.nobody}</b>
          </span>{' '}
          {why} {group.recipients.length > 0 && group.reaches === 0 ? <UnconfiguredEmail /> : null}
        </>
      )}
      {group.muted_now ? (
        <span className="lamp">
          <WorkLamp work="canceled" />
          <b>{words.reaches.muted}</b>
        </span>
      ) : null}
    </p>
  );
}

/** People are told by email unless they choose another way, and only the operator makes that possible. */
function UnconfiguredEmail() {
  const found = useUnconfigured()('email');
  return found === undefined ? null : <span className="c-away">{allWords.unconfigured(channelName('email'), found.settings)}</span>;
}
