import { Link } from '@tanstack/react-router';
import { useState } from 'react';
import type { NotificationSettings, NotificationSettingsChange } from '../../../../../client/browser.ts';
import { useRecord } from '../../../data/use-record.ts';
import { useFleet } from '../../../data/use-fleet.ts';
import { useWrite } from '../../../data/use-write.ts';
import type { WriteState } from '../../../data/use-write.ts';
import { changedFields, changedOfNewest } from '../../../parts/changed.ts';
import { fill } from '../../../parts/fill.tsx';
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
import { words } from './words.ts';

const SETTINGS = 'notification-settings';

const LANGUAGES = [
  { value: 'en', name: words.language.en },
  { value: 'de', name: words.language.de },
  { value: 'es', name: words.language.es },
] as const;
type Language = (typeof LANGUAGES)[number]['value'];
type OwnChannel = NonNullable<NotificationSettings['default_channel']>;

/** When nobody has said anything: the hours that most people sleep in. */
const NIGHT = { from: '22:00', to: '07:00' };

/** Language, time zone, quiet hours and the channel of the person. */
export function Settings() {
  const { data, error } = useRecord(SETTINGS, 'getNotificationSettings', {});
  if (!data) return error ? <ReadingFailed error={error} what={words.settings.what} /> : <Reading />;
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

/** What differs; the quiet hours as a whole, because the control plane takes their begin and end together only. */
async function changeOf(
  first: Draft,
  now: Draft,
  readNewest: () => Promise<NotificationSettingsChange>,
): Promise<NotificationSettingsChange> {
  const body = bodyOf(now);
  const change = await changedOfNewest<NotificationSettingsChange>(bodyOf(first), body, readNewest);
  if (!('quiet_from' in change || 'quiet_to' in change)) return change;
  const { quiet_from, quiet_to, critical_breaks_through } = body;
  return { ...change, quiet_from, quiet_to, critical_breaks_through };
}

function Form({ settings }: { settings: NotificationSettings }) {
  const { api } = useFleet();
  const [first, setFirst] = useState(() => draftOf(settings));
  const [draft, setDraft] = useState(first);
  const write = useWrite('changeNotificationSettings', [SETTINGS, GROUPS]);
  const { data: contacts = [] } = useRecord(CONTACTS, 'listContacts', {});
  const change = (changed: Partial<Draft>): void => setDraft((before) => ({ ...before, ...changed }));
  const channels = [...new Set<OwnChannel>(['email', draft.channel, ...contacts.map(({ channel }) => channel)])];
  const { state } = write;
  const readNewest = async (): Promise<NotificationSettingsChange> => (await api.call('getNotificationSettings', {})).data;
  /** Shows what others have changed meanwhile, too. */
  function goOnWith(saved: Draft): void {
    setFirst(saved);
    setDraft((now) => ({ ...saved, ...changedFields(first, now) }));
  }
  return (
    <div className="settings-form own-settings">
      <WriteForm
        write={write}
        input={async () => ({ body: await changeOf(first, draft, readNewest) })}
        action={words.settings.act}
        isMain={false}
        fields={['locale', 'time_zone', 'default_channel', 'quiet_from', 'quiet_to', 'digest', 'digest_at']}
        onDone={({ data }) => goOnWith(draftOf(data))}
      >
        <SelectField
          label={words.settings.language}
          name="locale"
          value={draft.language}
          onChange={(language) => change({ language })}
          options={LANGUAGES}
          state={state}
        />
        <ZoneField
          label={words.settings.zone}
          name="time_zone"
          value={draft.zone}
          onChange={(zone) => change({ zone })}
          hint={<ZoneHint />}
          state={state}
        />
        <SelectField
          label={words.settings.channel}
          name="default_channel"
          value={draft.channel}
          onChange={(channel) => change({ channel })}
          options={channels.map((channel) => ({ value: channel, name: channelName(channel) }))}
          hint={words.settings.channelHint}
          state={state}
        />
        <QuietFields draft={draft} onChange={change} state={state} />
        <DigestFields draft={draft} onChange={change} state={state} />
        <p className="hint" role="status">
          {state.kind === 'done' ? words.settings.saved : ''}
        </p>
      </WriteForm>
    </div>
  );
}

interface QuietFieldsProps {
  draft: Draft;
  onChange: (changed: Partial<Draft>) => void;
  state: WriteState;
}

/** When the person is left alone, and what comes all the same. */
function QuietFields({ draft, onChange, state }: QuietFieldsProps) {
  return (
    <>
      <CheckField label={words.settings.quiet} isChecked={draft.isQuiet} onChange={(isQuiet) => onChange({ isQuiet })} />
      {draft.isQuiet ? (
        <>
          <div className="from-to">
            <TextField
              label={words.settings.from}
              name="quiet_from"
              value={draft.from}
              onChange={(from) => onChange({ from })}
              state={state}
              input={CLOCK}
            />
            <TextField
              label={words.settings.to}
              name="quiet_to"
              value={draft.to}
              onChange={(to) => onChange({ to })}
              state={state}
              input={CLOCK}
            />
          </div>
          <CheckField
            label={words.settings.critical}
            isChecked={draft.breaksThrough}
            onChange={(breaksThrough) => onChange({ breaksThrough })}
          />
        </>
      ) : null}
    </>
  );
}

/** The pages have another zone: whoever looks for it here is led there. */
function ZoneHint() {
  return (
    <>
      {words.settings.zoneHint}{' '}
      {fill(words.settings.zonePages, {
        zone: (
          <Link to="/me" className="under">
            {words.settings.zoneOfPages}
          </Link>
        ),
      })}
    </>
  );
}
