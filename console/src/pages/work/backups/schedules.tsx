import { useState } from 'react';
import type { BackupSchedule } from '../../../../../client/browser.ts';
import { useList } from '../../../data/use-list.ts';
import { useWrite } from '../../../data/use-write.ts';
import { Confirm } from '../../../parts/confirm.tsx';
import { Dialog } from '../../../parts/dialog.tsx';
import { CheckField, Outcome, TextField } from '../../../parts/form.tsx';
import { Moment } from '../../../parts/moment.tsx';
import { ReadingFailed } from '../../../parts/reading.tsx';
import { Section } from '../../../parts/section.tsx';
import { shownZone } from '../../../parts/times.ts';
import { useMay } from '../../../session/use-may.ts';

/** The schedule that exports a router every night: that of its site, otherwise that of the team. */
export function Schedules({ siteId }: { siteId: string | null }) {
  const { records, isFirst, error } = useList('backups', 'listBackupSchedules', {});
  const isUnread = error !== null && records.length === 0;
  const [editing, setEditing] = useState<BackupSchedule | 'new'>();
  const [removing, setRemoving] = useState<BackupSchedule>();
  const mayEdit = useMay('admin');
  const ofSite = siteId === null ? undefined : records.find((one) => one.site_id === siteId);
  const schedule = ofSite ?? records.find((one) => one.site_id === null);
  return (
    <Section
      title="Every night"
      aside={
        mayEdit && !isFirst && !isUnread ? (
          <button type="button" className="btn quiet sm" onClick={() => setEditing(schedule ?? 'new')}>
            {schedule ? 'Change' : 'Set a time'}
          </button>
        ) : undefined
      }
    >
      {schedule ? (
        <p className="schedule">
          {schedule.enabled ? (
            <>
              Exported at <b>{schedule.time}</b> by the clocks of its site
              {schedule.next_at === null ? null : (
                <>
                  , next <Moment at={schedule.next_at} />
                </>
              )}
              . The newest {schedule.keep} are kept.
            </>
          ) : (
            'Its schedule is switched off.'
          )}{' '}
          <span className="dim">{ofSite ? 'It is that of its site.' : 'It is that of the whole team.'}</span>
          {mayEdit ? (
            <button type="button" className="btn quiet sm" onClick={() => setRemoving(schedule)}>
              Remove
            </button>
          ) : null}
        </p>
      ) : isUnread ? (
        <ReadingFailed error={error} what="Schedules" />
      ) : (
        <p className="empty">
          {isFirst
            ? 'Reading'
            : `No schedule exports this router. ${mayEdit ? '' : 'People with the role admin set one for the team or a site.'}`}
        </p>
      )}
      {editing ? <ScheduleDialog schedule={editing === 'new' ? undefined : editing} onClose={() => setEditing(undefined)} /> : null}
      {removing ? (
        <Confirm
          title="Remove this schedule?"
          action="Remove it"
          operation="deleteBackupSchedule"
          input={{ path: { backup_schedule_id: removing.id } }}
          stale={['backups']}
          onClose={() => setRemoving(undefined)}
        >
          <p>
            {removing.site_id === null
              ? 'The routers of the team are no longer exported every night, except where a site has its own schedule.'
              : 'The routers of this site are exported by the schedule of the team, if it has one.'}{' '}
            Backups that were taken stay.
          </p>
        </Confirm>
      ) : null}
    </Section>
  );
}

function ScheduleDialog({ schedule, onClose }: { schedule: BackupSchedule | undefined; onClose: () => void }) {
  const [time, setTime] = useState(schedule?.time ?? '02:30');
  const [zone, setZone] = useState(schedule?.time_zone ?? shownZone());
  const [keep, setKeep] = useState(String(schedule?.keep ?? 14));
  const [enabled, setEnabled] = useState(schedule?.enabled ?? true);
  const create = useWrite('createBackupSchedule', ['backups']);
  const change = useWrite('changeBackupSchedule', ['backups']);
  const { state } = schedule ? change : create;
  async function answered(result: Promise<object | undefined>): Promise<void> {
    if (await result) onClose();
  }
  function send(): Promise<object | undefined> {
    const body = { time, time_zone: zone, keep: Number(keep), enabled };
    return schedule ? change.send({ path: { backup_schedule_id: schedule.id }, body }) : create.send({ body });
  }
  return (
    <Dialog
      title={schedule?.site_id ? 'Export the routers of this site every night' : 'Export every router of the team every night'}
      onClose={onClose}
    >
      <form
        onSubmit={(event) => {
          event.preventDefault();
          void answered(send());
        }}
      >
        <TextField
          label="At"
          name="time"
          hint="By the clocks of each router's site"
          state={state}
          value={time}
          onChange={setTime}
          input={{ type: 'time', required: true }}
        />
        <TextField
          label="Time zone"
          name="time_zone"
          hint="For routers whose site has none"
          state={state}
          value={zone}
          onChange={setZone}
        />
        <TextField
          label="Keep"
          name="keep"
          hint="The newest so many of each router, 1 to 50"
          state={state}
          value={keep}
          onChange={setKeep}
          input={{ inputMode: 'numeric' }}
        />
        <CheckField label="Switched on" isChecked={enabled} onChange={setEnabled} />
        <Outcome
          state={state}
          onLookAgain={() => void answered((schedule ? change : create).lookAgain())}
          fields={['time', 'time_zone', 'keep']}
        />
        <div className="form-acts">
          <button type="button" className="btn" onClick={onClose}>
            Cancel
          </button>
          <button type="submit" className="btn main-act" disabled={state.kind === 'sending'}>
            Keep it
          </button>
        </div>
      </form>
    </Dialog>
  );
}
