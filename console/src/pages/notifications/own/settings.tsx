import { useState } from 'react';
import type { NotificationSettings } from '../../../../../client/browser.ts';
import { useRecord } from '../../../data/use-record.ts';
import { useWrite } from '../../../data/use-write.ts';
import { CheckField, SelectField, TextField } from '../../../parts/form.tsx';
import { Reading, ReadingFailed } from '../../../parts/reading.tsx';
import { WriteForm } from '../../../parts/write-form.tsx';
import { ZoneField } from '../../../parts/zone-field.tsx';
import { GROUPS } from '../directory.ts';
import { clockOf, minuteOf } from '../week.ts';
import { channelName } from '../words.ts';
import { CONTACTS } from './contacts.tsx';
import { CLOCK, DigestFields } from './digest-fields.tsx';
import type { DigestDraft } from './digest-fields.tsx';

const SETTINGS = 'notification-settings';

const LANGUAGES = [
  { value: 'en', name: 'English' },
  { value: 'de', name: 'Deutsch' },
  { value: 'es', name: 'Español' },
] as const;
type Language = (typeof LANGUAGES)[number]['value'];
type OwnChannel = NonNullable<NotificationSettings['default_channel']>;

/** When nobody has said anything: the hours that most people sleep in. */
const NIGHT = { from: '22:00', to: '07:00' };

/** Language, time zone, quiet hours and the channel of the person. */
export function Settings() {
  const { data, error } = useRecord(SETTINGS, 'getNotificationSettings', {});
  if (!data) return error ? <ReadingFailed error={error} what="Your choices" /> : <Reading />;
  return <Form settings={data} />;
}

interface Draft extends DigestDraft {
  language: Language;
  zone: string;
  channel: OwnChannel;
  isQuiet: boolean;
  from: string;
  to: string;
  breaksThrough: boolean;
}

function draftOf(settings: NotificationSettings): Draft {
  const {
    locale,
    time_zone: zone,
    default_channel: channel,
    quiet_from: from,
    quiet_to: to,
    critical_breaks_through: breaksThrough,
    digest,
    digest_at: digestAt,
    digest_kinds: kinds,
  } = settings;
  return {
    language: locale ?? 'en',
    zone: zone ?? 'UTC',
    channel: channel ?? 'email',
    isQuiet: from !== null,
    from: from === null ? NIGHT.from : clockOf(from),
    to: to === null ? NIGHT.to : clockOf(to),
    breaksThrough,
    digest: digest ?? 'none',
    digestAt: clockOf(digestAt),
    kinds,
  };
}

function bodyOf({ language, zone, channel, isQuiet, from, to, breaksThrough, digest, digestAt, kinds }: Draft) {
  const quiet = isQuiet ? { quiet_from: minuteOf(from) ?? null, quiet_to: minuteOf(to) ?? null } : { quiet_from: null, quiet_to: null };
  const at = minuteOf(digestAt);
  return {
    locale: language,
    time_zone: zone,
    default_channel: channel,
    critical_breaks_through: breaksThrough,
    ...quiet,
    digest: digest === 'none' ? null : digest,
    ...(at === undefined ? {} : { digest_at: at }),
    digest_kinds: [...kinds],
  };
}

function Form({ settings }: { settings: NotificationSettings }) {
  const [draft, setDraft] = useState(() => draftOf(settings));
  const write = useWrite('changeNotificationSettings', [SETTINGS, GROUPS]);
  const { data: contacts = [] } = useRecord(CONTACTS, 'listContacts', {});
  const change = (changed: Partial<Draft>): void => setDraft((before) => ({ ...before, ...changed }));
  const channels = [...new Set<OwnChannel>(['email', draft.channel, ...contacts.map(({ channel }) => channel)])];
  const { state } = write;
  return (
    <div className="settings-form own-settings">
      <WriteForm
        write={write}
        input={() => ({ body: bodyOf(draft) })}
        action="Save"
        isMain={false}
        fields={['locale', 'time_zone', 'default_channel', 'quiet_from', 'quiet_to', 'digest', 'digest_at']}
        onDone={() => undefined}
      >
        <SelectField
          label="Language of messages"
          name="locale"
          value={draft.language}
          onChange={(language) => change({ language })}
          options={LANGUAGES}
          state={state}
        />
        <ZoneField
          label="Your time zone"
          name="time_zone"
          value={draft.zone}
          onChange={(zone) => change({ zone })}
          hint="Messages give times of the site, and yours beside them where they differ."
          state={state}
        />
        <SelectField
          label="Groups tell you by"
          name="default_channel"
          value={draft.channel}
          onChange={(channel) => change({ channel })}
          options={channels.map((channel) => ({ value: channel, name: channelName(channel) }))}
          hint="Where a group does not name a way itself."
          state={state}
        />
        <CheckField label="Quiet hours, in which messages wait" isChecked={draft.isQuiet} onChange={(isQuiet) => change({ isQuiet })} />
        {draft.isQuiet ? (
          <>
            <div className="from-to">
              <TextField
                label="From"
                name="quiet_from"
                value={draft.from}
                onChange={(from) => change({ from })}
                state={state}
                input={CLOCK}
              />
              <TextField label="To" name="quiet_to" value={draft.to} onChange={(to) => change({ to })} state={state} input={CLOCK} />
            </div>
            <CheckField
              label="Critical ones come at once"
              isChecked={draft.breaksThrough}
              onChange={(breaksThrough) => change({ breaksThrough })}
            />
          </>
        ) : null}
        <DigestFields draft={draft} onChange={change} state={state} />
        <p className="hint" role="status">
          {state.kind === 'done' ? 'Saved.' : ''}
        </p>
      </WriteForm>
    </div>
  );
}
