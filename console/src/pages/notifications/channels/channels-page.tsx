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
import { channelName, listed, offWords, upper } from '../words.ts';
import { AddTarget } from './add-target.tsx';
import { ChangeTarget } from './change-target.tsx';
import { Prove } from './prove.tsx';

type Asked = { kind: 'add' } | { kind: 'prove' | 'change' | 'remove'; target: NotificationTarget };

/** Addresses of the team that are nobody's own: chat channels, webhooks, keys of alarm services. */
export function ChannelsPage() {
  const mayChange = useMay('admin');
  const [asked, setAsked] = useState<Asked>();
  const close = () => setAsked(undefined);
  return (
    <NotificationsArea
      name="Channels"
      note="Places of the team that groups can tell: a Slack channel, a webhook, PagerDuty. People set their own addresses at their name."
      actions={
        mayChange ? (
          <button type="button" className="btn main-act" onClick={() => setAsked({ kind: 'add' })}>
            Add a channel
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
      label="Channels"
      list={list}
      keyOf={({ id }) => id}
      columns={[
        { title: 'Name', width: 'minmax(120px, 1fr)', className: 'el', cell: ({ name }) => <b>{name}</b> },
        { title: 'Kind', width: '120px', cell: ({ channel }) => channelName(channel) },
        { title: 'Leads to', width: 'minmax(150px, 1.2fr)', className: 'el dim id', isWide: true, cell: ({ shown }) => shown },
        { title: 'State', width: 'minmax(200px, 1.6fr)', cell: (target) => <State target={target} /> },
        ...(onAsk === undefined
          ? []
          : [
              {
                title: 'Actions',
                width: '200px',
                className: 'row-acts',
                cell: (target: NotificationTarget) => <Actions target={target} onAsk={onAsk} />,
              },
            ]),
      ]}
      empty={
        <Empty title="No channel yet.">
          A Slack channel, a Microsoft Teams channel, a webhook, PagerDuty, ntfy, Gotify or a Telegram group would be here.{' '}
          {onAsk ? 'Add one above.' : 'People with the role admin add channels.'}
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
        <span className={isSound ? 'dim' : 'b c-not'}>{isSound ? 'proved' : provedAt === null ? 'not proved' : 'switched off'}</span>
      </span>{' '}
      {isSound ? <Moment at={provedAt} className="dim" /> : null}
      {isSound ? null : (
        <span className="dim">{reason === null ? 'Nothing is sent there.' : `${upper(offWords(reason))}. Prove it again.`}</span>
      )}
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
      {isSound ? null : act('prove', 'Prove')}
      {act('change', 'Change')}
      {act('remove', 'Remove')}
    </>
  );
}

function ProveTarget({ target, onClose }: { target: NotificationTarget; onClose: () => void }) {
  const path = { target_id: target.id };
  return (
    <Prove
      title={`Prove ${target.name}`}
      send={{ operation: 'sendTargetCode', input: { path } }}
      verify={{ operation: 'verifyTarget', inputOf: (code) => ({ path, body: { code } }) }}
      stale={[CHANNELS, GROUPS]}
      onClose={onClose}
    >
      A message with six digits is sent to {target.shown}. Read it there and type it in: that proves that the address is right, and yours.
    </Prove>
  );
}

function Remove({ target, onClose }: { target: NotificationTarget; onClose: () => void }) {
  const { data: groups, error } = useAll(GROUPS, 'listGroups');
  return (
    <Confirm
      title={`Remove ${target.name}?`}
      action="Remove the channel"
      operation="deleteNotificationTarget"
      input={{ path: { target_id: target.id } }}
      stale={[CHANNELS, GROUPS]}
      onClose={onClose}
    >
      <p>{groups === undefined ? '' : usedBy(target, groups)} Its address is forgotten.</p>
      {groups === undefined && error ? <ReadingFailed error={error} what="Which groups use it" /> : null}
    </Confirm>
  );
}

function usedBy({ id }: NotificationTarget, groups: readonly NotificationGroup[]): string {
  const using = groups.filter(({ targets }) => targets.includes(id)).map(({ name }) => name);
  return using.length === 0 ? 'No group uses it.' : `It is taken out of ${listed(using)}, and nothing is sent there any more.`;
}
