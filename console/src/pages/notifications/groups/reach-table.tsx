import { Link } from '@tanstack/react-router';
import type { GroupReach } from '../../../../../client/browser.ts';
import { useFleet } from '../../../data/use-fleet.ts';
import { Empty } from '../../../parts/empty.tsx';
import { ShortTable } from '../../../parts/short-table.tsx';
import { WorkLamp } from '../../../parts/work-lamp.tsx';
import type { Names } from '../sentence.ts';
import { channelName, reachWords, targetName } from '../words.ts';

/** Every line of a group: where it leads, or why it leads nowhere and what helps. */
export function ReachTable({ reach, names }: { reach: readonly GroupReach[]; names: Names }) {
  const lines = reach.map((line, index) => ({ ...line, key: String(index) }));
  return (
    <ShortTable
      label="Who is told"
      list={{
        records: lines,
        total: lines.length,
        isTotalExact: true,
        isFirst: false,
        error: null,
        hasMore: false,
        readMore: () => undefined,
      }}
      keyOf={({ key }) => key}
      columns={[
        { title: 'Who', width: 'minmax(150px, 1fr)', className: 'el', cell: (line) => <b>{whoOf(line, names)}</b> },
        { title: 'By', width: '120px', cell: ({ channel }) => channelName(channel) },
        { title: 'Address', width: 'minmax(110px, .8fr)', className: 'el dim id', cell: ({ address }) => address ?? '' },
        { title: 'Reached', width: 'minmax(220px, 2fr)', className: 'reached', cell: (line) => <State line={line} /> },
      ]}
      empty={<Empty title="The group names nobody.">Add people of the team, or a channel such as Slack, a webhook or PagerDuty.</Empty>}
    />
  );
}

function whoOf({ user_id: userId, target_id: targetId }: GroupReach, names: Names): string {
  if (userId !== null) return names.members.get(userId)?.email ?? 'somebody who has left';
  const target = targetId === null ? undefined : names.targets.get(targetId);
  return target ? targetName(target) : 'removed channel';
}

function State({ line }: { line: GroupReach }) {
  const { me } = useFleet();
  const { word, help } = reachWords(line);
  if (line.state === 'reached')
    return (
      <span className="lamp">
        <WorkLamp work="done" />
        <span className="dim">{word}</span>
      </span>
    );
  const isQuiet = line.state === 'duplicate';
  return (
    <>
      <span className="lamp">
        <WorkLamp work={isQuiet ? 'skipped' : 'failed'} />
        <span className={isQuiet ? 'dim' : 'b c-not'}>{word}</span>
      </span>{' '}
      <span className="dim">{help}</span>{' '}
      {line.user_id === me.id && !isQuiet ? (
        <Link to="/me/notifications" className="hand under">
          My addresses
        </Link>
      ) : null}
      {line.target_id !== null && !isQuiet ? (
        <Link to="/notifications/channels" className="hand under">
          Channels
        </Link>
      ) : null}
    </>
  );
}
