import { Link } from '@tanstack/react-router';
import type { GroupReach } from '../../../../../client/browser.ts';
import { useFleet } from '../../../data/use-fleet.ts';
import { Empty } from '../../../parts/empty.tsx';
import { ShortTable } from '../../../parts/short-table.tsx';
import { WorkLamp } from '../../../parts/work-lamp.tsx';
import type { Names } from '../sentence.ts';
import { channelName, reachWords, targetName } from '../words.ts';
import { words } from './words.ts';

/** Every line of a group: where it leads, or why it leads nowhere and what helps. */
export function ReachTable({ reach, names }: { reach: readonly GroupReach[]; names: Names }) {
  const lines = reach.map((line, index) => ({ ...line, key: String(index) }));
  return (
    <ShortTable
      label={words.reach.label}
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
        { title: words.reach.who, width: 'minmax(150px, 1fr)', className: 'el', cell: (line) => <b>{whoOf(line, names)}</b> },
        { title: words.reach.by, width: '120px', cell: ({ channel }) => channelName(channel) },
        { title: words.reach.address, width: 'minmax(110px, .8fr)', className: 'el dim id', cell: ({ address }) => address ?? '' },
        { title: words.reach.reached, width: 'minmax(220px, 2fr)', className: 'reached', cell: (line) => <State line={line} /> },
      ]}
      empty={<Empty title={words.reach.empty}>{words.reach.emptyText}</Empty>}
    />
  );
}

function whoOf({ user_id: userId, target_id: targetId }: GroupReach, names: Names): string {
  if (userId !== null) return names.members.get(userId)?.email ?? words.reach.left;
  const target = targetId === null ? undefined : names.targets.get(targetId);
  return target ? targetName(target) : words.reach.removedChannel;
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
          {words.reach.own}
        </Link>
      ) : null}
      {line.target_id !== null && !isQuiet ? (
        <Link to="/notifications/channels" className="hand under">
          {words.reach.channels}
        </Link>
      ) : null}
    </>
  );
}
