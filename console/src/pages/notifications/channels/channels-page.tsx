import { useState } from 'react';
import type { NotificationGroup, NotificationTarget } from '../../../../../client/browser.ts';
import { Confirm } from '../../../parts/confirm.tsx';
import { Empty } from '../../../parts/empty.tsx';
import { Moment } from '../../../parts/moment.tsx';
import { ReadingFailed } from '../../../parts/reading.tsx';
import { ShortTable } from '../../../parts/short-table.tsx';
import { WorkLamp } from '../../../parts/work-lamp.tsx';
import { useMay } from '../../../session/use-may.ts';
import { NotificationsArea } from '../area.tsx';
import { GROUPS, CHANNELS, listOf, useAll } from '../directory.ts';
import { channelName, listed, offWords, upper, words as areaWords } from '../words.ts';
import { AddTarget } from './add-target.tsx';
import { ChangeTarget } from './change-target.tsx';
import { Prove } from './prove.tsx';
import { words } from './words.ts';

type Asked = { kind: 'add' } | { kind: 'prove' | 'change' | 'remove'; target: NotificationTarget };

/** Addresses of the team that are nobody's own: chat channels, webhooks, keys of alarm services. */
export function ChannelsPage() {
  const mayChange = useMay('admin');
  const [asked, setAsked] = useState<Asked>();
  const close = () => setAsked(undefined);
  return (
    <NotificationsArea
      name={areaWords.part.channels}
      note={words.note}
      actions={
        mayChange ? (
          <button type="button" className="btn main-act" onClick={() => setAsked({ kind: 'add' })}>
            {words.add}
          </button>
        ) : undefined
      }
    >
      <Targets onAsk={mayChange ? setAsked : undefined} />
      {asked?.kind === 'add' ? <AddTarget onClose={close} onAdded={(target) => setAsked({ kind: 'prove', target })} /> : null}
      {asked?.kind === 'change' ? (
        <ChangeTarget target={asked.target} onClose={close} onMoved={(target) => setAsked({ kind: 'prove', target })} />
      ) : null}
      {asked?.kind === 'prove' ? <ProveTarget target={asked.target} onClose={close} /> : null}
      {asked?.kind === 'remove' ? <Remove target={asked.target} onClose={close} /> : null}
    </NotificationsArea>
  );
}

/** @param onAsk given to those who may change channels */
function Targets({ onAsk }: { onAsk: ((asked: Asked) => void) | undefined }) {
  const list = listOf(useAll(CHANNELS, 'listNotificationTargets'));
  return (
    <ShortTable<NotificationTarget>
      label={words.table.label}
      list={list}
      keyOf={({ id }) => id}
      columns={[
        { title: words.table.name, width: 'minmax(120px, 1fr)', className: 'el', cell: ({ name }) => <b>{name}</b> },
        { title: words.table.kind, width: '120px', cell: ({ channel }) => channelName(channel) },
        { title: words.table.leadsTo, width: 'minmax(150px, 1.2fr)', className: 'el dim id', isWide: true, cell: ({ shown }) => shown },
        { title: words.table.state, width: 'minmax(200px, 1.6fr)', cell: (target) => <State target={target} /> },
        ...(onAsk === undefined
          ? []
          : [
              {
                title: words.table.actions,
                width: '200px',
                className: 'row-acts',
                cell: (target: NotificationTarget) => <Actions target={target} onAsk={onAsk} />,
              },
            ]),
      ]}
      empty={
        <Empty title={words.empty.title}>
          {words.empty.text} {onAsk ? words.empty.add : words.empty.ask}
        </Empty>
      }
    />
  );
}

function State({ target: { verified_at: provedAt, off_reason: reason } }: { target: NotificationTarget }) {
  const isSound = provedAt !== null && reason === null;
  return (
    <>
      <span className="lamp">
        <WorkLamp work={isSound ? 'done' : 'failed'} />
        <span className={isSound ? 'dim' : 'b c-not'}>
          {isSound ? words.state.proved : provedAt === null ? words.state.notProved : words.state.off}
        </span>
      </span>{' '}
      {isSound ? <Moment at={provedAt} className="dim" /> : null}
      {isSound ? null : <span className="dim">{reason === null ? words.state.silent : words.state.why(upper(offWords(reason)))}</span>}
    </>
  );
}

function Actions({ target, onAsk }: { target: NotificationTarget; onAsk: (asked: Asked) => void }) {
  const isSound = target.verified_at !== null && target.off_reason === null;
  const act = (kind: 'prove' | 'change' | 'remove', name: string) => (
    <button type="button" className="btn quiet sm" onClick={() => onAsk({ kind, target })}>
      {name}
      <span className="sr"> {target.name}</span>
    </button>
  );
  return (
    <>
      {isSound ? null : act('prove', words.act.prove)}
      {act('change', words.act.change)}
      {act('remove', words.act.remove)}
    </>
  );
}

function ProveTarget({ target, onClose }: { target: NotificationTarget; onClose: () => void }) {
  const path = { target_id: target.id };
  return (
    <Prove
      title={words.prove.title(target.name)}
      send={{ operation: 'sendTargetCode', input: { path } }}
      verify={{ operation: 'verifyTarget', inputOf: (code) => ({ path, body: { code } }) }}
      stale={[CHANNELS, GROUPS]}
      onClose={onClose}
    >
      {words.prove.about(target.shown)}
    </Prove>
  );
}

function Remove({ target, onClose }: { target: NotificationTarget; onClose: () => void }) {
  const { data: groups, error } = useAll(GROUPS, 'listGroups');
  return (
    <Confirm
      title={words.remove.title(target.name)}
      action={words.remove.act}
      operation="deleteNotificationTarget"
      input={{ path: { target_id: target.id } }}
      stale={[CHANNELS, GROUPS]}
      onClose={onClose}
    >
      <p>
        {groups === undefined ? '' : usedBy(target, groups)} {words.remove.forgotten}
      </p>
      {groups === undefined && error ? <ReadingFailed error={error} what={words.remove.usage} /> : null}
    </Confirm>
  );
}

function usedBy({ id }: NotificationTarget, groups: readonly NotificationGroup[]): string {
  const using = groups.filter(({ targets }) => targets.includes(id)).map(({ name }) => name);
  return using.length === 0 ? words.remove.unused : words.remove.used(listed(using));
}
