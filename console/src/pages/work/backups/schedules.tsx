import { useState } from 'react';
import type { BackupSchedule } from '../../../../../client/browser.ts';
import { useList } from '../../../data/use-list.ts';
import { useRecord } from '../../../data/use-record.ts';
import { useWrite } from '../../../data/use-write.ts';
import { Confirm } from '../../../parts/confirm.tsx';
import { changedFields } from '../../../parts/changed.ts';
import { Dialog } from '../../../parts/dialog.tsx';
import { CheckField, Outcome, TextField } from '../../../parts/form.tsx';
import { ReadingFailed } from '../../../parts/reading.tsx';
import { Section } from '../../../parts/section.tsx';
import { shownZone } from '../../../parts/times.ts';
import { useMay } from '../../../session/use-may.ts';
import { words } from './words.ts';

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
      title={words.schedule.title}
      aside={
        mayEdit && !isFirst && !isUnread ? (
          <button type="button" className="btn quiet sm" onClick={() => setEditing(schedule ?? 'new')}>
            {schedule ? words.schedule.change : words.schedule.set}
          </button>
        ) : undefined
      }
    >
      {schedule ? (
        <p className="schedule">
          {schedule.enabled ? (
            <>
              {siteId === null ? words.schedule.at(schedule.time, schedule.time_zone) : <AtSite siteId={siteId} schedule={schedule} />}{' '}
              {words.schedule.keeps(schedule.keep)}
            </>
          ) : (
            words.schedule.isOff
          )}{' '}
          <span className="dim">{ofSite ? words.schedule.ofSite : words.schedule.ofTeam}</span>
          {mayEdit ? (
            <button type="button" className="btn quiet sm" onClick={() => setRemoving(schedule)}>
              {words.schedule.remove}
            </button>
          ) : null}
        </p>
      ) : isUnread ? (
        <ReadingFailed error={error} what={words.schedule.schedules} />
      ) : (
        <p className="empty">
          {isFirst ? words.schedule.reading : mayEdit ? words.schedule.none : `${words.schedule.none} ${words.schedule.mayNot}`}
        </p>
      )}
      {editing ? <ScheduleDialog schedule={editing === 'new' ? undefined : editing} onClose={() => setEditing(undefined)} /> : null}
      {removing ? (
        <Confirm
          title={words.removeSchedule.title}
          action={words.removeSchedule.remove}
          operation="deleteBackupSchedule"
          input={{ path: { backup_schedule_id: removing.id } }}
          stale={['backups']}
          onClose={() => setRemoving(undefined)}
        >
          <p>
            {removing.site_id === null ? words.removeSchedule.ofTeam : words.removeSchedule.ofSite} {words.removeSchedule.stay}
          </p>
        </Confirm>
      ) : null}
    </Section>
  );
}

/** By the clocks of the site, where it has a zone. */
function AtSite({ siteId, schedule: { time, time_zone: zone } }: { siteId: string; schedule: BackupSchedule }) {
  const { data: site } = useRecord('sites', 'getSite', { path: { site_id: siteId } });
  return words.schedule.at(time, site?.time_zone ?? zone);
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
  const values = { time, time_zone: zone, keep: Number(keep), enabled };
  const [first] = useState(values);
  function send(): Promise<object | undefined> {
    if (!schedule) return create.send({ body: values });
    return change.send({ path: { backup_schedule_id: schedule.id }, body: changedFields(first, values) });
  }
  return (
    <Dialog title={schedule?.site_id ? words.scheduleDialog.titleOfSite : words.scheduleDialog.titleOfTeam} onClose={onClose}>
      <form
        onSubmit={(event) => {
          event.preventDefault();
          void answered(send());
        }}
      >
        <TextField
          label={words.scheduleDialog.at}
          name="time"
          hint={words.scheduleDialog.atHint}
          state={state}
          value={time}
          onChange={setTime}
          input={{ type: 'time', required: true }}
        />
        <TextField
          label={words.scheduleDialog.zone}
          name="time_zone"
          hint={words.scheduleDialog.zoneHint}
          state={state}
          value={zone}
          onChange={setZone}
        />
        <TextField
          label={words.scheduleDialog.keep}
          name="keep"
          hint={words.scheduleDialog.keepHint}
          state={state}
          value={keep}
          onChange={setKeep}
          input={{ inputMode: 'numeric' }}
        />
        <CheckField label={words.scheduleDialog.on} isChecked={enabled} onChange={setEnabled} />
        <Outcome
          state={state}
          onLookAgain={() => void answered((schedule ? change : create).lookAgain())}
          fields={['time', 'time_zone', 'keep']}
        />
        <div className="form-acts">
          <button type="button" className="btn" onClick={onClose}>
            {words.scheduleDialog.cancel}
          </button>
          <button type="submit" className="btn main-act" disabled={state.kind === 'sending'}>
            {words.scheduleDialog.save}
          </button>
        </div>
      </form>
    </Dialog>
  );
}
